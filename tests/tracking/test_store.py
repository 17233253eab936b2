"""Run records in MLflow, whose store can be rebuilt at any time."""

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
from urllib.parse import urlsplit

import pytest
import requests
import yaml
from mlflow import MlflowClient
from typer.testing import CliRunner

from analogyqa.cli import app
from analogyqa.errors import AnalogyQAError
from analogyqa.evaluation.summary import SUMMARY, to_frame, write_csv
from analogyqa.files import write_text
from analogyqa.tracking import store
from analogyqa.tracking.store import experiment_name
from builders.projects import clean_environment
from builders.servers import free_ports
from builders.tracking import (
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
    connect,
    import_all,
    shown_metrics,
    uri,
    write_cell,
    write_corpus,
)

RECORD = f"runs/{CELL.path}/run.json"
DOCUMENTS = "tables and figures"


@pytest.fixture(scope="session")
def template(tmp_path_factory) -> Path:
    """An initialised store to copy, because its migrations take seconds."""
    database = tmp_path_factory.mktemp("template") / "mlflow.db"
    store.initialise(f"sqlite:///{database}")
    return database


def write_results(results: Path, template: Path) -> Path:
    """Write a trained cell, an untrained one, a table, a figure and a ledger; return the folder."""
    write_cell(results, CELL)
    write_cell(results, UNTRAINED, rr=0.25, trained=False)
    for name in (f"tables/{PAPER}/table4.csv", f"figures/{PAPER}/figure6.svg", "ledger.csv"):
        write_text(results / name, "a,b\n")
    write_corpus(results)
    shutil.copyfile(template, results / "mlflow.db")
    return results


@pytest.fixture
def results(tmp_path, template) -> Path:
    return write_results(tmp_path / "results", template)


@pytest.fixture(scope="module")
def imported(tmp_path_factory, template) -> Path:
    """An imported output folder, which tests do not change."""
    results = write_results(tmp_path_factory.mktemp("imported") / "results", template)
    os.utime(results / RECORD, (1_000_000, 1_000_000))
    write_text(results / "logs/score_candidates/random/wikiqa-comb-default.log", "done\n")
    import_all(results)
    return results


def find_run(results: Path | str, name: str):
    """Return the only run of this name in a results folder or on a server."""
    tracking_uri = results if isinstance(results, str) else uri(results)
    (run,) = (run for run in active_runs(tracking_uri) if run.info.run_name == name)
    return run


def artifacts(results: Path, run) -> dict[str, bytes]:
    folder = results / "mlflow-artifacts"
    folder /= run.info.artifact_uri.removeprefix("mlflow-artifacts:/")
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def test_a_cell_is_a_run_with_metrics_and_each_seed_is_its_child(results):
    epochs = 320  # a call takes at most 1000 points
    write_cell(results, CELL, epochs=epochs)
    assert import_all(results) == 3
    assert_shows_the_records(uri(results), results)
    runs = shown_metrics(uri(results))
    assert len(runs) == 7
    parent = runs[f"results/{CELL.path}", None, NAME]
    assert (parent["mrr", 0], parent["dev/map", 0]) == (0.625, 0.25)
    child = runs[f"results/{CELL.path}", NAME, f"seed 1, {NAME}"]
    assert child["mrr", 0] == 0.75
    assert {key for key, step in child if step == epochs} == {f"epoch/{name}" for name in CURVES}


def test_times_come_from_the_record_and_the_history(imported):
    start, end = 1_000_000_000 - 60_000, 1_000_000_000
    parent, child = find_run(imported, NAME).info, find_run(imported, f"seed 1, {NAME}").info
    assert (parent.start_time, parent.end_time) == (start, end)
    assert (child.start_time, child.end_time) == (start, start + 2000 * EPOCHS)
    points = MlflowClient(uri(imported)).get_metric_history(child.run_id, "epoch/loss")
    assert [point.timestamp for point in points] == [start + 2000 * n for n in (1, 2, 3, 4)]


def test_coordinates_and_settings_are_flat_params(imported):
    parent = find_run(imported, "analogy comb p=20 wikiqa")
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
        "system.rewriting": "entity",
        "system.vectors": "some",
        "p": "20",
        "training.loss": "printed",
        "training.negatives.count": "1",
        "hyperparameters": "paper",
        "lowercase": "True",
        "seeds": "0, 1",
    }
    expected = {"hyperparameters": "paper", "device": "cpu", "mlflow.source.git.commit": "abc"}
    assert expected.items() <= parent.data.tags.items()


def test_the_epoch_chosen_on_dev_is_a_model(imported):
    (output,) = find_run(imported, f"seed 1, {NAME}").outputs.model_outputs
    model = MlflowClient(uri(imported)).get_logged_model(output.model_id)
    assert (output.step, model.status.value) == (1, "READY")  # the first of equal epochs
    assert {metric.key: metric.value for metric in model.metrics}["mrr"] == 0.75
    assert not find_run(imported, f"seed 1, {UNTRAINED_NAME}").outputs.model_outputs


def test_the_splits_of_the_corpus_are_data_sets_of_the_run(imported):
    inputs = {data.dataset.name: data for data in find_run(imported, NAME).inputs.dataset_inputs}
    rows = {name: json.loads(data.dataset.profile)["num_rows"] for name, data in inputs.items()}
    assert rows == {"wikiqa train": 3, "wikiqa dev": 2, "wikiqa test": 1}
    test = inputs["wikiqa test"]
    assert json.loads(test.dataset.source) == {"uri": "wikiqa-test"}
    assert [(tag.key, tag.value) for tag in test.tags] == [("mlflow.data.context", "test")]


def test_records_tables_and_figures_are_artifacts(imported):
    files = artifacts(imported, find_run(imported, UNTRAINED_NAME))
    assert files.keys() == {"run.json", "metrics.parquet", "score_candidates.log"}
    assert files["run.json"] == (imported / "runs" / UNTRAINED.path / "run.json").read_bytes()
    assert sorted(artifacts(imported, find_run(imported, DOCUMENTS))) == [
        "figures/diallo2019/figure6.svg",
        "ledger.csv",
        "tables/diallo2019/table4.csv",
    ]


def test_two_imports_at_once_add_each_run_once_and_a_third_changes_nothing(results):
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
        assert sorted(pool.map(import_all, [results, results])) == [0, 3]
    before = {run.info.run_id for run in active_runs(uri(results))}
    assert import_all(results) == 0
    assert {run.info.run_id for run in active_runs(uri(results))} == before
    assert len(before) == 7


def test_a_change_replaces_only_the_runs_it_affects(results):
    import_all(results)
    client = MlflowClient(uri(results))
    experiment = client.get_experiment_by_name(EXPERIMENT)
    mine = client.create_run(experiment.experiment_id, run_name="mine").info.run_id

    def import_changes() -> list[str]:
        """Import again, and return the names of the runs that this deletes."""
        before = {run.info.run_id: run.info.run_name for run in active_runs(uri(results))}
        assert import_all(results) == 1
        now = {run.info.run_id for run in active_runs(uri(results))}
        assert mine in now and len(now) == 8
        removed = before.keys() - now
        assert {client.get_run(run_id).info.lifecycle_stage for run_id in removed} == {"deleted"}
        return sorted(before[run_id] for run_id in removed)

    write_text(results / "tables" / PAPER / "table4.csv", "a,c\n")
    assert import_changes() == [DOCUMENTS]
    files = artifacts(results, find_run(results, DOCUMENTS))
    assert files["tables/diallo2019/table4.csv"] == b"a,c\n"
    cell_runs = [NAME, *(f"seed {seed}, {NAME}" for seed in (0, 1))]
    write_cell(results, CELL, rr=0.75)
    assert import_changes() == cell_runs
    assert find_run(results, NAME).data.metrics["mrr"] == 0.875
    record = (results / RECORD).read_bytes()
    write_cell(results, CELL, rr=0.25)
    (results / RECORD).write_bytes(record)  # other metrics of the same scores
    assert import_changes() == cell_runs
    assert find_run(results, NAME).data.metrics["mrr"] == 0.375


def delete_run(client: MlflowClient, results: Path, name: str) -> None:
    client.delete_run(find_run(results, name).info.run_id)


def delete_model(client: MlflowClient, results: Path, name: str) -> None:
    (output,) = find_run(results, name).outputs.model_outputs
    client.delete_logged_model(output.model_id)


def delete_files(client: MlflowClient, results: Path, name: str) -> None:
    uri = find_run(results, name).info.artifact_uri
    shutil.rmtree(results / "mlflow-artifacts" / uri.removeprefix("mlflow-artifacts:/"))


def delete_experiment(client: MlflowClient, results: Path, name: str) -> None:
    client.delete_experiment(client.get_experiment_by_name(name).experiment_id)


@pytest.mark.parametrize(
    ("delete", "name", "added"),
    [
        (delete_run, f"seed 1, {NAME}", 1),
        (delete_run, NAME, 1),
        (delete_run, DOCUMENTS, 1),
        (delete_model, f"seed 1, {NAME}", 1),
        (delete_files, NAME, 1),
        (delete_experiment, EXPERIMENT, 0),
    ],
)
def test_what_was_deleted_in_mlflow_is_imported_again(results, delete, name, added):
    import_all(results)
    delete(MlflowClient(uri(results)), results, name)
    assert import_all(results) == added
    assert_shows_the_records(uri(results), results)
    assert artifacts(results, find_run(results, NAME))
    assert import_all(results) == 0


WRITES = ("create_run", "log_batch", "log_inputs", "create_logged_model", "log_outputs",
          "set_terminated", "set_tag", "delete_run")  # fmt: skip


def kill_at_write(patch: pytest.MonkeyPatch, number: int, writes=WRITES) -> None:
    """Interrupt the import before its write with this number, as a signal would."""
    left = iter(range(number))

    def dying(method):
        def call(*args, **kwargs):
            if next(left, None) is None:
                raise KeyboardInterrupt
            return method(*args, **kwargs)

        return call

    for name in writes:
        patch.setattr(MlflowClient, name, dying(getattr(MlflowClient, name)))


@pytest.mark.parametrize(
    "number", [1, *(pytest.param(number, marks=pytest.mark.slow) for number in (9, 10)), 23, None]
)
def test_the_next_import_completes_a_killed_one(results, monkeypatch, number):
    """The last one has written a replacement and not yet deleted what it replaces."""
    if number is None:
        import_all(results)
        write_cell(results, CELL, rr=0.75)
    with monkeypatch.context() as patch:
        kill_at_write(patch, number or 0, WRITES if number else ("delete_run",))
        with pytest.raises(KeyboardInterrupt):
            import_all(results)
    assert (import_all(results) == 0) == (number is None)
    assert_shows_the_records(uri(results), results)
    assert len(artifacts(results, find_run(results, DOCUMENTS))) == 3
    assert len(artifacts(results, find_run(results, NAME))) == 3


def write_config(folder: Path, **changes) -> Path:
    wikiqa = {"title": "W", "reader": "wikiqa", "train": "a", "dev": "b", "test": "c"}
    systems = {"random": {"title": "Random", "encoder": "random", "ranker": "cosine"}}
    values = {"output_dir": "results", "seeds": 2, "papers": ["diallo2019"]}
    values |= {"datasets": {"wikiqa": wikiqa}, "systems": systems}
    write_text(folder / "config.yaml", yaml.safe_dump({**values, **changes}))
    return folder / "config.yaml"


def test_the_command_imports_the_finished_cells_with_the_spread_of_the_summary(results):
    # The configuration does not have this cell.
    write_cell(results, UNTRAINED._replace(overrides=(("pad", "1"),)), trained=False)
    row = {"system": "random", "dataset": "wikiqa", "subset": "comb", "overrides": "default"}
    row |= {"measure": "mrr", "mean": 0.375, "sd": 0.125, "run_low": 0.25}
    write_csv(to_frame([row], SUMMARY), results / "summary.csv")
    config = write_config(results.parent, output_dir=str(results))
    result = CliRunner().invoke(app, ["import", "--config", str(config)])
    assert "results/diallo2019: 3 new runs\n" in result.output
    assert "cells have no run" in result.output
    run = find_run(results, UNTRAINED_NAME)
    spread = {name: value for name, value in run.data.metrics.items() if name.startswith("spread")}
    assert spread == {"spread/mrr_sd": 0.125, "spread/mrr_run_low": 0.25}
    assert run.data.tags["mlflow.note.content"].startswith("Shown in diallo2019 (")


def test_an_experiment_has_a_link_to_its_page_and_a_view_with_the_measures_of_the_paper(results):
    write_text(results / "report.html", "<html></html>")
    config = write_config(results.parent, output_dir=str(results))
    assert CliRunner().invoke(app, ["import", "--config", str(config)]).exit_code == 0
    tags = MlflowClient(uri(results)).get_experiment_by_name(EXPERIMENT).tags
    columns = json.loads(tags["mlflow.sharedViewState.measures"])["selectedColumns"]
    assert columns == ["metrics.`map`", "metrics.`mrr`"]  # also measured: p_at_1 and others
    documents = find_run(results, DOCUMENTS)
    page = f"/runs/{documents.info.run_id}/artifacts/report.html?"
    link, _, citation = tags["mlflow.note.content"].partition(" Diallo, Zopf and Fürnkranz (2019)")
    assert page in link and "CoNLL 2019" in citation
    assert artifacts(results, documents)["report.html"] == b"<html></html>"


def test_an_empty_output_folder_imports_nothing(tmp_path, template):
    results = tmp_path / "results"
    results.mkdir()
    shutil.copyfile(template, results / "mlflow.db")
    config = str(write_config(tmp_path, output_dir=str(results)))
    result = CliRunner().invoke(app, ["import", "--config", config])
    assert "cells have no run" in result.output and active_runs(uri(results)) == []
    result = CliRunner().invoke(app, ["ui", "--config", config])
    assert "there are no runs yet" in str(result.exception)


def test_a_port_in_use_is_named_with_a_remedy(results):
    config = str(write_config(results.parent, output_dir=str(results)))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = str(listening.getsockname()[1])
        result = CliRunner().invoke(app, ["ui", "--config", config, "--port", port])
    assert f"port {port} of 127.0.0.1" in str(result.exception)
    assert "--port " in str(result.exception)


def test_four_processes_initialise_one_store(tmp_path):
    with ProcessPoolExecutor(4, mp_context=multiprocessing.get_context("fork")) as pool:
        futures = [pool.submit(store.initialise, uri(tmp_path)) for _ in range(4)]
    assert [future.exception() for future in futures] == [None] * 4
    assert MlflowClient(uri(tmp_path)).get_experiment("0").name == "Default"


FOLDER_NAME = 'it\'s a "häuschen" & 1%20; what #1? a:b'


def test_an_output_folder_may_have_any_name(results):
    """The folder names the experiment, and is part of the URI of its artifacts."""
    results = results.rename(results.with_name(FOLDER_NAME))
    experiment = experiment_name(results, PAPER)
    assert experiment == f"{FOLDER_NAME}/{PAPER}"
    assert import_all(results) == 3
    assert [*results.parent.iterdir()] == [results]
    client = MlflowClient(uri(results))
    runs = client.search_runs([client.get_experiment_by_name(experiment).experiment_id])
    assert {run.data.tags["record"] for run in runs} == {
        f"{FOLDER_NAME}/{path}" for path in (CELL.path, UNTRAINED.path, PAPER)
    }
    (documents,) = (run for run in runs if run.info.run_name == DOCUMENTS)
    assert not {*urlsplit(documents.info.artifact_uri)[3:]} - {""}  # no query, no fragment
    assert "tables/diallo2019/table4.csv" in artifacts(results, documents)


@pytest.mark.slow
def test_a_store_may_be_in_a_folder_of_any_name(tmp_path, monkeypatch):
    """MLflow inserts its working folder into an SQL statement without quoting it."""
    folder = tmp_path / FOLDER_NAME
    folder.mkdir()
    code = "from analogyqa.tracking import store; store.initialise('sqlite:///mlflow.db')"
    subprocess.run([sys.executable, "-c", code], cwd=folder, env=clean_environment(), check=True)
    monkeypatch.chdir(folder)
    assert MlflowClient("sqlite:///mlflow.db").get_experiment("0").name == "Default"


def test_a_group_may_write_a_store_where_the_umask_lets_it(tmp_path):
    before = os.umask(0o002)
    try:
        store.initialise(uri(tmp_path))
    finally:
        os.umask(before)
    assert (tmp_path / "mlflow.db").stat().st_mode & 0o777 == 0o664


def test_a_killed_initialisation_leaves_no_store(tmp_path, monkeypatch):
    def die(database):
        database.write_bytes(b"half a store")
        raise KeyboardInterrupt

    monkeypatch.setattr(store, "_upgrade", die)
    with pytest.raises(KeyboardInterrupt):
        store.initialise(uri(tmp_path))
    assert not (tmp_path / "mlflow.db").exists()


@pytest.mark.slow
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


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"not a database" * 1000,
        lambda data: data[:100_000] + b"\xff" * 40_000 + data[140_000:],
        lambda data: data[: len(data) // 2],
        None,  # a folder
    ],
    ids=["no header", "middle", "half", "folder"],
)
def test_a_damaged_store_is_named_with_a_remedy(results, damage):
    database = results / "mlflow.db"
    data = database.read_bytes()
    database.unlink()
    database.write_bytes(damage(data)) if damage else database.mkdir()
    with pytest.raises(AnalogyQAError, match=r"mlflow\.db: .*delete it and .* import again"):
        import_all(results)


@pytest.mark.parametrize("text", ["{", '{"cell": {}}'])
def test_a_damaged_record_is_named_and_nothing_is_imported(results, text):
    write_text(results / RECORD, text)
    with pytest.raises(AnalogyQAError, match=r"comb/p=20/run\.json: cannot be read"):
        import_all(results)
    assert MlflowClient(uri(results)).get_experiment_by_name(EXPERIMENT) is None


def test_a_store_in_use_by_another_program_is_named(results, monkeypatch):
    monkeypatch.setattr(store, "_PATIENCE", 0.01)
    with closing(sqlite3.connect(results / "mlflow.db", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(AnalogyQAError, match=r"mlflow\.db: .*Another program") as caught:
            import_all(results)
    assert "disk" not in str(caught.value)


@pytest.mark.slow
@pytest.mark.draw
def test_the_ui_of_a_moved_folder_shows_the_artifacts_and_accepts_imports(results, tmp_path):
    shutil.rmtree(results / "runs" / CELL.system)
    config = write_config(results.parent, output_dir=str(results))
    CliRunner().invoke(app, ["import", "--config", str(config)])
    moved = tmp_path / "moved"
    moved.mkdir()
    shutil.move(results, moved / "results")
    write_config(moved)
    (port,) = free_ports(1)
    command = [sys.executable, "-m", "analogyqa", "ui", "--port", str(port)]
    options = {"cwd": moved, "env": clean_environment(), "text": True, "start_new_session": True}
    server = subprocess.Popen(command, stdout=subprocess.PIPE, **options)
    try:
        assert ": 0 new runs" in server.stdout.readline()
        assert "is up to date" in server.stdout.readline()
        address = f"http://127.0.0.1:{port}"
        assert f"{address}/#/experiments/1/runs" in server.stdout.readline()
        session = connect(address)

        def artifact(name: str, path: str) -> requests.Response:
            query = {"run_uuid": find_run(address, name).info.run_id, "path": path}
            return session.get(f"{address}/get-artifact", params=query)

        assert artifact(DOCUMENTS, "tables/diallo2019/table4.csv").text == "a,b\n"
        write_cell(moved / "results", CELL)
        assert import_all(moved / "results", address) >= 1
        assert artifact(NAME, "run.json").json()["cell"] == CELL.record()
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.communicate()
