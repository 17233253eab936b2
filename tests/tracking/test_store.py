"""Run records in MLflow: a view that can be made again at any time."""

import json
import multiprocessing
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlsplit

import pytest
import requests
import sqlalchemy
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mlflow import MlflowClient
from typer.testing import CliRunner
from urllib3.util import Retry

from analogyqa.errors import AnalogyQAError
from analogyqa.files import write_text
from analogyqa.report.summary import LEDGER
from analogyqa.tracking import live, store
from analogyqa.tracking.command_line import app
from analogyqa.tracking.records import experiment_name
from http_server import running_server, status
from tracking.records import (
    CELL,
    CURVES,
    EPOCHS,
    EXPERIMENT,
    NAME,
    PAPER,
    UNTRAINED,
    UNTRAINED_NAME,
    active_runs,
    assert_shows_the_records,
    epochs_of,
    import_all,
    shown,
    uri,
    write_cell,
    write_corpus,
)

LIBRARY = Path(__file__).parents[2] / "workflow_scripts"
RECORD = f"runs/{CELL.path}/run.json"
DOCUMENTS = "tables and figures"


@sqlalchemy.event.listens_for(sqlalchemy.Engine, "connect")
def do_not_wait_for_the_disk(connection, _) -> None:
    """Spare these tests SQLite's fsync after each of thousands of small writes."""
    connection.execute("PRAGMA synchronous = OFF")


@pytest.fixture(scope="session")
def template(tmp_path_factory) -> Path:
    """A store that has been initialised: the migrations take seconds."""
    database = tmp_path_factory.mktemp("template") / "mlflow.db"
    store.initialise(f"sqlite:///{database}")
    return database


@pytest.fixture
def results(tmp_path, template) -> Path:
    """An output folder with a trained cell, an untrained one, a table, a figure and a ledger."""
    results = tmp_path / "results"
    write_cell(results, CELL)
    write_cell(results, UNTRAINED, rr=0.25, trained=False)
    write_text(results / "tables" / PAPER / "table4.csv", "a,b\n")
    write_text(results / "figures" / PAPER / "figure6.svg", "<svg/>\n")
    write_text(results / "ledger.csv", ",".join(LEDGER) + "\n")
    write_corpus(results)
    shutil.copyfile(template, results / "mlflow.db")
    return results


def named(results: Path, name: str):
    """Return the one run of a name that a store, or a server, shows."""
    tracking_uri = results if isinstance(results, str) else uri(results)
    (run,) = (run for run in active_runs(tracking_uri) if run.info.run_name == name)
    return run


def curve(results: Path, run, key: str) -> list:
    points = MlflowClient(uri(results)).get_metric_history(run.info.run_id, key)
    return [(point.step, point.value, point.timestamp) for point in points]


def artifacts(results: Path, run) -> dict[str, str]:
    folder = run.info.artifact_uri.removeprefix("mlflow-artifacts:/")
    folder = results / "mlflow-artifacts" / folder
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_text() for path in files}


def content(results: Path) -> list[str]:
    """Everything that a user sees of the runs, but for the identifiers that MLflow draws."""
    runs = active_runs(uri(results))
    names = {run.info.run_id: run.info.run_name for run in runs}
    return sorted(
        json.dumps(
            {
                "name": run.info.run_name,
                "record": run.data.tags["record"],
                "parent": names.get(run.data.tags.get("mlflow.parentRunId")),
                "tags": {k: v for k, v in run.data.tags.items() if k != "mlflow.parentRunId"},
                "params": run.data.params,
                "metrics": {key: curve(results, run, key) for key in run.data.metrics},
                "times": [run.info.start_time, run.info.end_time, run.info.status],
                "artifacts": artifacts(results, run),
            },
            sort_keys=True,
        )
        for run in runs
    )


def identifiers(results: Path) -> set[str]:
    return {run.info.run_id for run in active_runs(uri(results))}


@pytest.mark.parametrize("epochs", [EPOCHS, 700])  # a call takes at most 1000 points
def test_a_cell_is_a_run_and_each_seed_its_child_with_their_metrics(results, epochs):
    write_cell(results, CELL, epochs=epochs)
    assert import_all(results)[:4] == (2, 4, 3, 3)
    assert_shows_the_records(uri(results), results)
    found = shown(uri(results))
    assert len(found) == 7
    parent = found[f"results/{CELL.path}", None, NAME]
    assert (parent["mrr", 0], parent["dev_map", 0]) == (0.625, 0.25)
    assert (parent["mrr_sd", 0], parent["dev_map_sd", 0]) == (pytest.approx(0.5**2.5), 0)
    child = found[f"results/{CELL.path}", NAME, f"seed 1, {NAME}"]
    assert child["mrr", 0] == 0.75
    assert {key for key, step in child if step == epochs} == {f"epoch/{name}" for name in CURVES}


def test_times_come_from_the_record_and_the_history(results):
    os.utime(results / RECORD, (1_000_000, 1_000_000))
    import_all(results)
    parent = named(results, NAME)
    assert parent.info.end_time == 1_000_000_000
    assert parent.info.start_time == 1_000_000_000 - 60_000
    child = named(results, f"seed 1, {NAME}")
    for key in CURVES:
        times = [time for _, _, time in curve(results, child, f"epoch/{key}")]
        assert times == [parent.info.start_time + 2000 * epoch for epoch in (1, 2, 3, 4)]


def test_coordinates_and_settings_are_flat_params_by_which_runs_are_found(results):
    import_all(results)
    parent = named(results, "analogy comb p=20 wikiqa")
    assert parent.data.params == {
        "system": "analogy",
        "dataset": "wikiqa",
        "subset": "comb",
        "overrides": "p=20",
        "training.select_by": "mrr",
        "sources.train": "wikiqa-train",
        "sources.dev": "wikiqa-dev",
        "sources.test": "wikiqa-test",
        "system.encoder": "bigru",
        "system.ranker.name": "analogy",
        "training.loss": "printed",
        "training.negatives.count": "1",
        "hyperparameters": "paper",
        "seeds": "0, 1",
    }
    expected = {"hyperparameters": "paper", "device": "cpu", "mlflow.source.git.commit": "abc"}
    expected |= {"mlflow.source.name": "workflow_scripts/train_encoder.py"}
    assert expected.items() <= parent.data.tags.items()
    untrained = named(results, "random comb wikiqa")
    assert untrained.data.params["overrides"] == "default"
    assert untrained.data.tags["mlflow.source.name"] == "workflow_scripts/score_candidates.py"
    client = MlflowClient(uri(results))
    experiment = client.get_experiment_by_name(EXPERIMENT)
    assert experiment.tags["mlflow.experimentKind"] == "custom_model_development"
    query = "metrics.mrr > .7 and params.dataset = 'wikiqa'"
    (found,) = client.search_runs([experiment.experiment_id], query)
    assert found.info.run_name == f"seed 1, {NAME}"


def test_a_seed_has_its_history_and_its_questions_and_its_chosen_epoch_is_a_model(results):
    import_all(results)
    child = named(results, f"seed 1, {NAME}")
    files = artifacts(results, child)
    assert files["history.csv"].splitlines()[0].startswith("epoch,dev_")
    assert len(files["history.csv"].splitlines()) == 1 + EPOCHS
    header, *questions = files["questions.csv"].splitlines()
    assert header.startswith("item,group,") and len(questions) == 2
    client = MlflowClient(uri(results))
    (output,) = child.outputs.model_outputs
    model = client.get_logged_model(output.model_id)
    assert (output.step, model.status.value) == (1, "READY")  # of equal epochs the first
    found = {(each.key, each.dataset_name): each.value for each in model.metrics}
    assert found["mrr", "wikiqa test"] == 0.75
    assert ("dev_mrr", "wikiqa dev") in found and ("mrr", "wikiqa dev") not in found
    assert not named(results, f"seed 1, {UNTRAINED_NAME}").outputs.model_outputs


def test_the_splits_of_the_corpus_are_data_sets_of_the_run(results):
    import_all(results)
    inputs = named(results, NAME).inputs.dataset_inputs
    assert {each.dataset.name: json.loads(each.dataset.profile)["num_rows"] for each in inputs} == {
        "wikiqa train": 3,
        "wikiqa dev": 2,
        "wikiqa test": 1,
    }
    (test,) = (each for each in inputs if each.dataset.name == "wikiqa test")
    assert json.loads(test.dataset.source) == {"uri": "wikiqa-test"}
    assert [(tag.key, tag.value) for tag in test.tags] == [("mlflow.data.context", "test")]


def test_records_tables_and_figures_are_artifacts(results):
    record = (results / "runs" / UNTRAINED.path / "run.json").read_text()
    write_text(results / "logs/score_candidates/random/wikiqa-comb-default.log", "done\n")
    import_all(results)
    assert artifacts(results, named(results, UNTRAINED_NAME)) == {
        "run.json": record,
        "wikiqa-comb-default.log": "done\n",
    }
    assert sorted(artifacts(results, named(results, DOCUMENTS))) == [
        "figures/diallo2019/figure6.svg",
        "ledger.csv",
        "tables/diallo2019/table4.csv",
    ]


def test_two_imports_at_once_add_each_run_once_and_a_third_changes_nothing(results):
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
        imported = sorted(pool.map(import_all, [results, results]), key=lambda one: one.added)
    assert [one.added for one in imported] == [0, 3]
    before = identifiers(results)
    assert import_all(results) == imported[0] == imported[1]._replace(added=0)
    assert identifiers(results) == before
    assert len(before) == 7


@pytest.mark.parametrize("changed", ["scores", "metrics of the same scores", "a table"])
def test_what_changes_replaces_its_older_run_alone(results, changed):
    import_all(results)
    client = MlflowClient(uri(results))
    experiment = client.get_experiment_by_name(EXPERIMENT)
    own = client.create_run(experiment.experiment_id, run_name="mine").info.run_id
    before = {run.info.run_id: run.info.run_name for run in active_runs(uri(results))}
    if changed == "a table":
        write_text(results / "tables" / PAPER / "table4.csv", "a,c\n")
    else:
        record = (results / RECORD).read_bytes()
        write_cell(results, CELL, rr=0.75)
        if changed != "scores":
            (results / RECORD).write_bytes(record)
    assert import_all(results).added == 1
    gone = {run_id: before[run_id] for run_id in before.keys() - identifiers(results)}
    seeds = [f"seed {seed}, {NAME}" for seed in (0, 1)]
    replaced = [DOCUMENTS] if changed == "a table" else [NAME, *seeds]
    assert sorted(gone.values()) == replaced
    assert own in identifiers(results)
    assert len(active_runs(uri(results))) == 8
    assert {client.get_run(run_id).info.lifecycle_stage for run_id in gone} == {"deleted"}
    if changed == "a table":
        assert (
            artifacts(results, named(results, DOCUMENTS))["tables/diallo2019/table4.csv"] == "a,c\n"
        )
    else:
        assert named(results, NAME).data.metrics["mrr"] == 0.875


def test_an_experiment_deleted_by_hand_comes_back(results):
    import_all(results)
    client = MlflowClient(uri(results))
    client.delete_experiment(client.get_experiment_by_name(EXPERIMENT).experiment_id)
    import_all(results)
    assert len(active_runs(uri(results))) == 7


WRITES = (
    "create_run",
    "log_batch",
    "log_inputs",
    "create_logged_model",
    "log_outputs",
    "set_terminated",
    "set_tag",
    "delete_run",
)


def kill_at_write(patch: pytest.MonkeyPatch, number: int) -> None:
    """Let the import die before its write with this number, as by a signal."""
    left = iter(range(number))

    def dying(method):
        def call(*args, **kwargs):
            if next(left, None) is None:
                raise KeyboardInterrupt
            return method(*args, **kwargs)

        return call

    for name in WRITES:
        patch.setattr(MlflowClient, name, dying(getattr(MlflowClient, name)))


@pytest.mark.parametrize("number", [1, 9, 10, 23])
def test_an_import_killed_in_the_middle_is_completed_by_the_next(results, monkeypatch, number):
    with monkeypatch.context() as patch:
        kill_at_write(patch, number)
        with pytest.raises(KeyboardInterrupt):
            import_all(results)
    import_all(results)
    whole = results.parent / "whole" / "results"
    shutil.copytree(results, whole, ignore=shutil.ignore_patterns("mlflow*", ".mlflow*"))
    import_all(whole)
    assert content(results) == content(whole)


def test_a_replacement_killed_before_the_older_run_is_gone_is_completed(results, monkeypatch):
    import_all(results)
    write_cell(results, CELL, rr=0.75)
    with monkeypatch.context() as patch:
        patch.setattr(MlflowClient, "delete_run", lambda *_: pytest.fail("killed"))
        with pytest.raises(pytest.fail.Exception):
            import_all(results)
    names = [run.info.run_name for run in active_runs(uri(results))]
    assert names.count(NAME) == 2
    assert import_all(results).added == 0
    assert len(active_runs(uri(results))) == 7


def write_config(folder: Path, **more) -> Path:
    wikiqa = {"title": "W", "reader": "wikiqa", "train": "a", "dev": "b", "test": "c"}
    few = {"random": {"title": "Random", "encoder": "random", "ranker": "cosine"}}
    values = {"output_dir": "results", "seeds": 2, "papers": ["diallo2019"]}
    values |= {"datasets": {"wikiqa": wikiqa}, "systems": few}
    write_text(folder / "config.yaml", yaml.safe_dump({**values, **more}))
    return folder / "config.yaml"


def command(*arguments: str, folder: Path, **options) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-m", "analogyqa.tracking", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(LIBRARY)},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **options,
    )


@pytest.mark.slow
def test_a_deleted_store_is_made_again_by_the_command_with_the_same_runs(results):
    shutil.rmtree(results / "runs" / CELL.system)
    import_all(results)
    before = content(results)
    (results / "mlflow.db").rename(results / "before.db")
    write_config(results.parent)
    process = command("import", folder=results.parent)
    output, errors = process.communicate()
    assert process.returncode == 0, errors
    assert "results/diallo2019: 1 cells with 2 seeds, 3 tables and figures (2 new runs)" in output
    assert "cells have not run yet" in output
    assert errors == ""
    again = results.parent / "again" / "results"
    shutil.copytree(results, again)
    assert content(again) == before


def test_an_empty_output_folder_imports_nothing(tmp_path, template):
    results = tmp_path / "results"
    results.mkdir()
    shutil.copyfile(template, results / "mlflow.db")
    config = write_config(tmp_path, output_dir=str(results))
    done = CliRunner().invoke(app, ["import", "--config", str(config)])
    assert "cells have not run yet" in done.output
    assert active_runs(uri(results)) == []
    done = CliRunner().invoke(app, ["ui", "--config", str(config)])
    assert "there are no runs yet" in str(done.exception)


def test_a_taken_port_is_named_with_the_remedy(results):
    config = write_config(results.parent, output_dir=str(results))
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = CliRunner().invoke(app, ["ui", "--config", str(config), "--port", port])
    assert f"port {port} of 127.0.0.1" in str(done.exception)
    assert "make ui PORT=" in str(done.exception)


@pytest.mark.parametrize("port", ["80000", "0", "-1", "http"])
def test_a_port_that_there_cannot_be_is_refused(results, port):
    config = write_config(results.parent, output_dir=str(results))
    done = CliRunner().invoke(app, ["ui", "--config", str(config), "--port", port])
    assert done.exit_code == 2  # as for any wrong option


def test_four_processes_initialise_one_store(tmp_path):
    with ProcessPoolExecutor(4, mp_context=multiprocessing.get_context("fork")) as pool:
        done = [pool.submit(store.initialise, uri(tmp_path)) for _ in range(4)]
    assert [future.exception() for future in done] == [None] * 4
    assert MlflowClient(uri(tmp_path)).get_experiment("0").name == "Default"


NAMES = ['it\'s a "folder"', "häuschen & 1%20", "what #1?", "a;b:c"]


@pytest.mark.parametrize("name", NAMES)
def test_an_output_folder_may_have_any_name(results, template, name):
    """It is the name of the experiment, whose artifacts have a URI."""
    results = results.rename(results.with_name(name))
    experiment = experiment_name(results, PAPER)
    assert experiment == f"{name}/{PAPER}"
    assert import_all(results).added == 3
    client = MlflowClient(uri(results))
    runs = client.search_runs([client.get_experiment_by_name(experiment).experiment_id])
    assert {run.data.tags["record"] for run in runs} == {
        f"{name}/{each}" for each in (CELL.path, UNTRAINED.path, PAPER)
    }
    (documents,) = (run for run in runs if run.info.run_name == DOCUMENTS)
    assert not {*urlsplit(documents.info.artifact_uri)[3:]} - {""}  # no query, no fragment
    assert sorted(artifacts(results, documents))[-1] == "tables/diallo2019/table4.csv"


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES[:2])
def test_a_store_may_be_in_a_folder_of_any_name(tmp_path, name):
    """MLflow writes the folder it is in into a statement of SQL, without quoting it."""
    folder = tmp_path / name
    folder.mkdir()
    code = (
        "from analogyqa.tracking import store; from mlflow import MlflowClient\n"
        "store.initialise('sqlite:///mlflow.db')\n"
        "print(MlflowClient('sqlite:///mlflow.db').get_experiment('0').name)"
    )
    environment = {**os.environ, "PYTHONPATH": str(LIBRARY)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.stdout == "Default\n", done.stderr


def test_a_killed_initialisation_leaves_no_store(tmp_path, monkeypatch):
    def die(database):
        database.write_bytes(b"half a store")
        raise KeyboardInterrupt

    monkeypatch.setattr(store, "_upgrade", die)
    with pytest.raises(KeyboardInterrupt):
        store.initialise(uri(tmp_path))
    assert not (tmp_path / "mlflow.db").exists()


def test_a_store_of_an_older_mlflow_is_upgraded(tmp_path):
    from alembic import command as alembic
    from mlflow.store.db import utils
    from mlflow.store.tracking.dbmodels.initial_models import Base

    engine = utils.create_sqlalchemy_engine(uri(tmp_path))
    Base.metadata.create_all(engine)
    first = utils.ScriptDirectory.from_config(utils._get_alembic_config("")).get_bases()[0]
    alembic.upgrade(utils._get_alembic_config(uri(tmp_path)), first)
    engine.dispose()
    store.initialise(uri(tmp_path))
    assert MlflowClient(uri(tmp_path)).get_experiment("0").name == "Default"


HALF = slice(100_000, 140_000)  # bytes in the middle of a store


@pytest.mark.parametrize(
    "damaged",
    [
        lambda data: b"not a database" * 1000,
        lambda data: data[: HALF.start] + b"\xff" * 40_000 + data[HALF.stop :],
        lambda data: data[: len(data) // 2],
        lambda data: None,  # a folder
    ],
    ids=["no header", "middle", "half", "folder"],
)
def test_a_damaged_store_is_named_with_its_remedy(results, damaged):
    database = results / "mlflow.db"
    data = damaged(database.read_bytes())
    database.unlink()
    database.mkdir() if data is None else database.write_bytes(data)
    with pytest.raises(AnalogyQAError, match=r"mlflow\.db: .*delete it and .* import again"):
        import_all(results)


def test_an_output_folder_that_cannot_be_made_is_named(tmp_path):
    write_text(tmp_path / "file", "")
    with pytest.raises(AnalogyQAError, match=r"file/mlflow\.db: .*Free some disk space"):
        store.initialise(uri(tmp_path / "file"))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"cell": {}}',
        '{"cell": {"overrides": []}, "settings": 1, "seeds": 1, "content_hash": 1}',
    ],
)
def test_a_damaged_record_is_named_and_nothing_is_imported(results, text):
    write_text(results / RECORD, text)
    with pytest.raises(AnalogyQAError, match=r"comb/p=20/run\.json: not a run record"):
        import_all(results)
    assert MlflowClient(uri(results)).get_experiment_by_name(EXPERIMENT) is None


def test_a_server_that_is_away_is_named(results, monkeypatch):
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    with socket.socket() as unheard:
        unheard.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{unheard.getsockname()[1]}"
        with pytest.raises(AnalogyQAError, match=f"{address}: the MLflow server"):
            import_all(results, address)


def test_a_server_that_wants_a_password_is_named_with_the_variables(results, monkeypatch):
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    with running_server() as server:
        server.otherwise = status(401)
        with pytest.raises(AnalogyQAError, match="MLFLOW_TRACKING_PASSWORD"):
            import_all(results, server.url)


def test_a_store_that_another_program_writes_to_is_not_said_to_be_full(results, monkeypatch):
    monkeypatch.setattr(store, "_PATIENCE", 0.01)
    with closing(sqlite3.connect(results / "mlflow.db", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(AnalogyQAError, match=r"mlflow\.db: .*Another program") as caught:
            import_all(results)
    assert "disk" not in str(caught.value)


@pytest.mark.parametrize("text", ["a: [", "\x00"])
def test_a_config_that_is_not_yaml_is_named(tmp_path, text):
    write_text(tmp_path / "config.yaml", text)
    done = CliRunner().invoke(app, ["import", "--config", str(tmp_path / "config.yaml")])
    assert isinstance(done.exception, AnalogyQAError)
    assert "config.yaml: cannot be read as a YAML mapping" in str(done.exception)


@pytest.mark.slow
@pytest.mark.draw
def test_the_ui_of_a_moved_folder_shows_the_artifacts_and_takes_imports(results, tmp_path):
    shutil.rmtree(results / "runs" / CELL.system)
    import_all(results)
    moved = tmp_path / "moved"
    moved.mkdir()
    shutil.move(results, moved / "results")
    write_config(moved)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = command("ui", "--port", str(port), folder=moved, start_new_session=True)
    try:
        assert "(0 new runs)" in server.stdout.readline()
        assert "is up to date" in server.stdout.readline()
        address = f"http://127.0.0.1:{port}"
        assert f"{address}/#/experiments/1/runs" in server.stdout.readline()
        session = requests.Session()
        retries = Retry(total=None, connect=240, backoff_factor=0.1, backoff_max=0.5)
        session.mount("http://", requests.adapters.HTTPAdapter(max_retries=retries))
        assert session.get(f"{address}/health").text == "OK"
        query = {
            "run_uuid": named(address, DOCUMENTS).info.run_id,
            "path": "tables/diallo2019/table4.csv",
        }
        assert session.get(f"{address}/get-artifact", params=query).text == "a,b\n"

        assert import_all(moved / "results", address).added == 0
        write_cell(moved / "results", CELL)
        assert import_all(moved / "results", address).added == 1
        query = {"run_uuid": named(address, NAME).info.run_id, "path": "run.json"}
        assert session.get(f"{address}/get-artifact", params=query).json()["cell"] == CELL.record()
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.communicate()


# Epochs shown while a cell trains


class Server:
    """What LiveLog sees of a server; `cost` is the seconds that a request takes.

    It forgets its runs in an outage.
    """

    def __init__(self) -> None:
        self.time, self.cost, self.fault, self.requests = 100.0, 0.0, None, 0
        self.points: dict[str, list[int]] = {}
        self.status: dict[str, str] = {}

    def opened(self, *_):
        """As the constructor of the store of a server."""
        self._answer()
        return self

    def _answer(self):
        self.requests += 1
        self.time += self.cost
        if self.fault:
            self.points.clear()
            raise self.fault

    def delete(self, records):
        self.points.clear()

    def create(self, name, tags, parent_id=None):
        self.points[name] = []
        return SimpleNamespace(run_id=name)

    def log_batches(self, run_id, metrics, params=None):
        self._answer()
        self.points[run_id] += [step for key, _, _, step in metrics if key == "epoch/loss"]

    @property
    def client(self):
        return SimpleNamespace(set_terminated=self.status.__setitem__)


@pytest.fixture
def server(monkeypatch) -> Server:
    server = Server()
    monkeypatch.setattr(live, "Store", server.opened)
    monkeypatch.setattr(live.LiveLog, "_watch_the_machine", lambda _: None)
    monkeypatch.setattr(live.time, "monotonic", lambda: server.time)
    for variable in live._LIVE_ENVIRONMENT:
        monkeypatch.setenv(variable, "0")
    return server


def live_log(tracking_uri: str | None = "http://server") -> live.LiveLog:
    return live.LiveLog(tracking_uri, "results", CELL, "paper")


@pytest.mark.parametrize("tracking_uri", [None, "sqlite:///results/mlflow.db"])
def test_nothing_is_logged_live_into_a_file(server, tracking_uri):
    with live_log(tracking_uri) as live:
        live.log(epochs_of(0, 1))
    assert server.requests == 0


@given(lengths=st.lists(st.integers(1, 30), min_size=1), faulty=st.sets(st.integers(0, 30)))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_each_epoch_is_shown_once_whenever_the_server_fails(server, lengths, faulty):
    with live_log() as live:
        for number, length in enumerate(sorted(lengths)):
            server.fault = OSError("away") if number in faulty else None
            live.log(epochs_of(0, length))
            if number not in faulty:
                assert server.points[f"seed 0, {NAME}"] == list(range(1, length + 1))
        server.fault = None
    assert server.points[f"seed 0, {NAME}"] == list(range(1, max(lengths) + 1))
    assert server.status[f"seed 0, {NAME}"] == "FINISHED"


def test_a_training_that_fails_is_shown_as_failed(server):
    with pytest.raises(AnalogyQAError), live_log() as live:
        live.log(epochs_of(0, 1))
        raise AnalogyQAError("diverged")
    assert set(server.status.values()) == {"FAILED"}


def test_an_outage_costs_one_warning(server, caplog):
    with live_log() as live:
        for epoch in range(1, 21):
            server.fault = OSError("gone\nand more") if epoch % 10 > 2 else None
            live.log(epochs_of(0, epoch))
        server.fault = None
    warnings = [entry.getMessage() for entry in caplog.records if entry.levelname == "WARNING"]
    assert len(warnings) == 2
    assert "http://server: the MLflow server does not accept epochs (gone)." in warnings[0]


@pytest.mark.parametrize("fault", [None, OSError("timeout")])
def test_slow_attempts_take_a_twentieth_of_the_time(server, fault):
    server.cost = 3.0
    live, begin = live_log(), server.time
    history = epochs_of(0, 1000)
    for epoch in range(1, 1001):
        server.time += 1.0
        server.fault = fault if epoch > 1 else None
        live.log(history[: epoch * len(history) // 1000])
    spent = server.requests * server.cost
    assert spent <= (server.time - begin) / 20 + 2 * server.cost
    assert server.requests > 10


def test_mlflow_is_loaded_by_what_uses_it_only():
    live_log = "from analogyqa.plan import Cell; from analogyqa.tracking.live import LiveLog; "
    live_log += "LiveLog('{}', 'results', Cell('s', 'd', 'all'), 'paper')"
    code = {
        "import analogyqa.tracking.command_line": 0,
        live_log.format("sqlite:///mlflow.db"): 0,
        live_log.format("http://127.0.0.1:9"): 1,
    }
    environment = {**os.environ, "PYTHONPATH": str(LIBRARY)}
    for first, loaded in code.items():
        command = [sys.executable, "-c", f"import sys; {first}; sys.exit('mlflow' in sys.modules)"]
        assert subprocess.run(command, env=environment).returncode == loaded
