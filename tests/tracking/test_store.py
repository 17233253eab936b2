"""Run records in MLflow: a view that can be made again at any time."""

import json
import multiprocessing
import os
import shutil
import signal
import socket
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from types import SimpleNamespace

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
from analogyqa.plan import Cell
from analogyqa.tracking import live, store
from analogyqa.tracking.command_line import app
from analogyqa.tracking.records import EXPERIMENT, Imported
from tracking.records import CELL, EPOCHS, write_cell

LIBRARY = Path(__file__).parents[2] / "workflow_scripts"


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
    write_cell(results, {**CELL, "model": "random", "p": 0}, rr=0.25, trained=False)
    write_text(results / "tables" / EXPERIMENT / "table4.csv", "a,b\n")
    write_text(results / "figures" / EXPERIMENT / "figure6.svg", "<svg/>\n")
    write_text(results / "ledger.csv", "paper\n")
    shutil.copyfile(template, results / "mlflow.db")
    return results


def uri(results: Path) -> str:
    return f"sqlite:///{results / 'mlflow.db'}"


def import_all(results: Path, tracking_uri: str | None = None) -> Imported:
    records = sorted((results / "runs").rglob("run.json"))
    metrics = [record.with_name("metrics.parquet") for record in records]
    tracking_uri = tracking_uri or uri(results)
    return store.import_runs(tracking_uri, EXPERIMENT, records, metrics, results)


def active_runs(tracking_uri: str) -> list:
    client = MlflowClient(tracking_uri)
    experiment = client.get_experiment_by_name(EXPERIMENT)
    return list(client.search_runs([experiment.experiment_id]))


def named(runs: list, name: str) -> list:
    return [run for run in runs if run.info.run_name == name]


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


def test_a_cell_is_a_run_and_each_seed_its_child(results):
    imported = import_all(results)
    assert imported[:4] == (2, 4, 3, 3)
    runs = active_runs(uri(results))
    assert len(runs) == 7
    (parent,) = named(runs, "analogy wikiqa comb p30")
    children = [
        run for run in runs if run.data.tags.get("mlflow.parentRunId") == parent.info.run_id
    ]
    assert sorted(run.info.run_name for run in children) == ["seed 0", "seed 1"]


def test_a_parent_has_mean_and_deviation_over_the_seeds(results):
    import_all(results)
    (parent,) = named(active_runs(uri(results)), "analogy wikiqa comb p30")
    metrics = parent.data.metrics
    assert metrics["test_mrr"] == 0.625
    assert metrics["test_mrr_sd"] == pytest.approx(0.25 / 2**0.5)
    assert (metrics["dev_map"], metrics["dev_map_sd"]) == (0.25, 0)


def test_a_child_has_its_own_measures_and_a_point_per_epoch(results):
    import_all(results)
    children = named(active_runs(uri(results)), "seed 1")
    (child,) = [run for run in children if run.data.tags["model"] == "analogy"]
    assert child.data.metrics["test_mrr"] == 0.75
    for key in ("epoch/loss", "epoch/dev_map", "epoch/dev_mrr"):
        points = curve(results, child, key)
        assert [step for step, _, _ in points] == list(range(1, EPOCHS + 1))
        assert [time - child.info.start_time for _, _, time in points] == [2000, 4000, 6000, 8000]
    assert len(curve(results, child, "dev_mrr")) == 1


def test_curves_longer_than_a_batch_arrive_whole(results):
    write_cell(results, CELL, epochs=700)
    import_all(results)
    children = named(active_runs(uri(results)), "seed 0")
    (child,) = [run for run in children if run.data.tags["model"] == "analogy"]
    assert len(curve(results, child, "epoch/dev_mrr")) == 700


def test_settings_are_flat_params_and_the_cell_is_in_the_tags(results):
    import_all(results)
    (parent,) = named(active_runs(uri(results)), "analogy wikiqa comb p30")
    assert parent.data.params == {
        "model.encoder": "bigru",
        "model.ranker": "analogy",
        "training.loss": "printed",
        "training.negatives.count": "1",
        "setting": "paper",
        "seeds": "0, 1",
    }
    tags = parent.data.tags
    expected = {"model": "analogy", "dataset": "wikiqa", "subset": "comb", "p": "30"}
    expected |= {"setting": "paper", "git_commit": "abc", "device": "cpu"}
    expected |= {"scores": "runs/analogy/wikiqa/comb/p30/scores.parquet"}
    assert expected.items() <= tags.items()


def test_times_come_from_the_record(results):
    record = results / "runs/analogy/wikiqa/comb/p30/run.json"
    os.utime(record, (1_000_000, 1_000_000))
    import_all(results)
    (parent,) = named(active_runs(uri(results)), "analogy wikiqa comb p30")
    assert parent.info.end_time == 1_000_000_000
    assert parent.info.start_time == 1_000_000_000 - 60_000


def test_records_tables_and_figures_are_artifacts(results):
    import_all(results)
    runs = active_runs(uri(results))
    (parent,) = named(runs, "random wikiqa comb p0")
    record = (results / "runs/random/wikiqa/comb/p0/run.json").read_text()
    assert artifacts(results, parent) == {"run.json": record}
    (documents,) = named(runs, "tables and figures")
    assert sorted(artifacts(results, documents)) == [
        "figures/diallo2019/figure6.svg",
        "ledger.csv",
        "tables/diallo2019/table4.csv",
    ]


def test_a_second_import_changes_nothing(results):
    first = import_all(results)
    before = identifiers(results)
    second = import_all(results)
    assert identifiers(results) == before
    assert second == first._replace(added=0)


def test_two_imports_at_once_add_each_run_once(results):
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
        imported = list(pool.map(import_all, [results, results]))
    assert sorted(one.added for one in imported) == [0, 3]
    assert len(active_runs(uri(results))) == 7


def test_a_changed_record_replaces_the_older_run_alone(results):
    import_all(results)
    before = {run.info.run_id: run.info.run_name for run in active_runs(uri(results))}
    write_cell(results, CELL, rr=0.75)
    assert import_all(results).added == 1
    runs = active_runs(uri(results))
    assert len(runs) == 7
    (parent,) = named(runs, "analogy wikiqa comb p30")
    assert parent.data.metrics["test_mrr"] == 0.875
    gone = sorted(before[run_id] for run_id in before.keys() - identifiers(results))
    assert gone == ["analogy wikiqa comb p30", "seed 0", "seed 1"]
    older = MlflowClient(uri(results)).get_run(
        next(key for key, name in before.items() if name == "analogy wikiqa comb p30")
    )
    assert older.info.lifecycle_stage == "deleted"


def test_new_metrics_of_the_same_scores_replace_the_older_run(results):
    import_all(results)
    other = results.parent / "other"
    write_cell(other, CELL, rr=0.75)
    table = "runs/analogy/wikiqa/comb/p30/metrics.parquet"
    shutil.copyfile(other / table, results / table)
    assert import_all(results).added == 1


def test_a_changed_table_replaces_the_tables_alone(results):
    import_all(results)
    write_text(results / "tables" / EXPERIMENT / "table4.csv", "a,c\n")
    assert import_all(results).added == 1
    (documents,) = named(active_runs(uri(results)), "tables and figures")
    assert artifacts(results, documents)["tables/diallo2019/table4.csv"] == "a,c\n"


def test_a_run_of_the_users_own_is_left_alone(results):
    import_all(results)
    client = MlflowClient(uri(results))
    experiment = client.get_experiment_by_name(EXPERIMENT)
    own = client.create_run(experiment.experiment_id, run_name="mine").info.run_id
    import_all(results)
    assert own in identifiers(results)


def test_an_experiment_deleted_by_hand_comes_back(results):
    import_all(results)
    client = MlflowClient(uri(results))
    client.delete_experiment(client.get_experiment_by_name(EXPERIMENT).experiment_id)
    import_all(results)
    assert len(active_runs(uri(results))) == 7


WRITES = ("create_run", "log_batch", "set_terminated", "set_tag", "delete_run")


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
    assert len(named(active_runs(uri(results)), "analogy wikiqa comb p30")) == 2
    assert import_all(results).added == 0
    assert len(active_runs(uri(results))) == 7


def write_config(folder: Path, **more) -> Path:
    values = {
        "output_dir": "results",
        "seeds": 2,
        "subsets": ["comb"],
        "datasets": {
            "wikiqa": {"title": "W", "reader": "wikiqa", "train": "a", "dev": "b", "test": "c"}
        },
        "models": {
            "random": {"title": "Random", "encoder": "random", "ranker": "cosine"},
            "absent": {"title": "Not run yet", "encoder": "random", "ranker": "cosine"},
        },
    }
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


def test_a_deleted_store_is_made_again_by_the_command_with_the_same_runs(results):
    shutil.rmtree(results / "runs/analogy")
    import_all(results)
    before = content(results)
    (results / "mlflow.db").rename(results / "before.db")
    write_config(results.parent)
    process = command("import", folder=results.parent)
    output, errors = process.communicate()
    assert process.returncode == 0, errors
    assert "1 cells with 2 seeds and 3 tables and figures (2 runs new)" in output
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
    assert "0 cells with 0 seeds and 0 tables and figures" in done.output
    assert active_runs(uri(results)) == []


def test_mlflow_is_imported_only_when_it_is_used():
    code = "import sys, analogyqa.tracking.command_line; sys.exit('mlflow' in sys.modules)"
    environment = {**os.environ, "PYTHONPATH": str(LIBRARY)}
    assert subprocess.run([sys.executable, "-c", code], env=environment).returncode == 0


def test_four_processes_initialise_one_store(tmp_path):
    with ProcessPoolExecutor(4, mp_context=multiprocessing.get_context("fork")) as pool:
        done = [pool.submit(store.initialise, uri(tmp_path)) for _ in range(4)]
    assert [future.exception() for future in done] == [None] * 4
    assert MlflowClient(uri(tmp_path)).get_experiment("0").name == "Default"


@pytest.mark.parametrize("name", ['it\'s a "folder"', "häuschen & 1%20"])
def test_a_folder_may_have_any_name(tmp_path, name):
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


def damage_header(database: Path) -> None:
    database.write_bytes(b"not a database" * 1000)


def damage_middle(database: Path) -> None:
    data = bytearray(database.read_bytes())
    data[len(data) // 2 : len(data) // 2 + 40_000] = b"\xff" * 40_000
    database.write_bytes(data)


def truncate(database: Path) -> None:
    os.truncate(database, database.stat().st_size // 2)


def make_folder(database: Path) -> None:
    database.unlink()
    database.mkdir()


@pytest.mark.parametrize("damage", [damage_header, damage_middle, truncate, make_folder])
def test_a_damaged_store_is_named_with_its_remedy(results, damage):
    damage(results / "mlflow.db")
    with pytest.raises(AnalogyQAError, match=r"mlflow\.db: .*delete it and .* import again"):
        import_all(results)


def test_an_output_folder_that_cannot_be_made_is_named(tmp_path):
    write_text(tmp_path / "file", "")
    with pytest.raises(
        AnalogyQAError, match=r"file/mlflow\.db: .*Make room on the disk or its folder writable"
    ):
        store.initialise(uri(tmp_path / "file"))


@pytest.mark.parametrize(
    "tracking_uri", ["", "mlruns", "sqlite:///", "postgresql://host/db", "ftp://host"]
)
def test_a_tracking_uri_of_another_kind_is_refused(tracking_uri):
    with pytest.raises(AnalogyQAError, match=r"tracking_uri: .* is not allowed: give sqlite:///"):
        store.initialise(tracking_uri)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"cell": {}}'])
def test_a_damaged_record_is_named_and_nothing_is_imported(results, text):
    write_text(results / "runs/analogy/wikiqa/comb/p30/run.json", text)
    with pytest.raises(AnalogyQAError, match=r"comb/p30/run\.json: not a run record"):
        import_all(results)
    assert MlflowClient(uri(results)).get_experiment_by_name(EXPERIMENT) is None


def test_a_server_that_is_away_is_named(results, monkeypatch):
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    with socket.socket() as unheard:
        unheard.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{unheard.getsockname()[1]}"
        with pytest.raises(AnalogyQAError, match=f"{address}: the MLflow server did not take"):
            import_all(results, address)


@pytest.mark.parametrize("text", ["a: [", "\x00", None])
def test_a_config_that_is_not_yaml_is_named(tmp_path, text):
    if text is not None:
        write_text(tmp_path / "config.yaml", text)
    done = CliRunner().invoke(app, ["import", "--config", str(tmp_path / "config.yaml")])
    assert isinstance(done.exception, AnalogyQAError)
    assert "config.yaml: cannot be read as a YAML mapping" in str(done.exception)


def test_the_ui_of_a_moved_folder_shows_the_artifacts_and_takes_imports(results, tmp_path):
    shutil.rmtree(results / "runs/analogy")
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
        assert "(0 runs new)" in server.stdout.readline()
        address = f"http://127.0.0.1:{port}"
        assert f"{address}/#/experiments/1/runs" in server.stdout.readline()
        session = requests.Session()
        retries = Retry(total=None, connect=60, backoff_factor=0.1, backoff_max=0.5)
        session.mount("http://", requests.adapters.HTTPAdapter(max_retries=retries))
        assert session.get(f"{address}/health").text == "OK"
        (documents,) = named(active_runs(address), "tables and figures")
        query = {"run_uuid": documents.info.run_id, "path": "tables/diallo2019/table4.csv"}
        assert session.get(f"{address}/get-artifact", params=query).text == "a,b\n"

        assert import_all(moved / "results", address).added == 0
        write_cell(moved / "results", CELL)
        assert import_all(moved / "results", address).added == 1
        (parent,) = named(active_runs(address), "analogy wikiqa comb p30")
        query = {"run_uuid": parent.info.run_id, "path": "run.json"}
        assert session.get(f"{address}/get-artifact", params=query).json()["cell"] == CELL
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

    def delete_live(self, record):
        self.points.clear()

    def create(self, name, tags, parent_id=None):
        self.points[name] = []
        return SimpleNamespace(run_id=name)

    def log_batches(self, run_id, metrics):
        self._answer()
        self.points[run_id] += [step for key, _, _, step in metrics if key == "epoch/loss"]

    @property
    def client(self):
        return SimpleNamespace(set_terminated=self.status.__setitem__)


@pytest.fixture
def server(monkeypatch) -> Server:
    server = Server()
    monkeypatch.setattr(live, "Store", server.opened)
    monkeypatch.setattr(live.time, "monotonic", lambda: server.time)
    for variable in live._LIVE_ENVIRONMENT:
        monkeypatch.setenv(variable, "0")
    return server


def live_log(tracking_uri: str | None = "http://server") -> live.LiveLog:
    return live.LiveLog(tracking_uri, "results", Cell(**CELL), "paper")


def history_of(epochs: int, seed: int = 0) -> list[list]:
    return [[seed, epoch, 0.5, 0.25, 0.5, 1.0, 10.0] for epoch in range(1, epochs + 1)]


@pytest.mark.parametrize("tracking_uri", [None, "sqlite:///results/mlflow.db"])
def test_nothing_is_logged_live_into_a_file(server, tracking_uri):
    with live_log(tracking_uri) as live:
        live.log(history_of(1))
    assert server.requests == 0


@given(lengths=st.lists(st.integers(1, 30), min_size=1), faulty=st.sets(st.integers(0, 30)))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_each_epoch_is_shown_once_whenever_the_server_fails(server, lengths, faulty):
    with live_log() as live:
        for number, length in enumerate(sorted(lengths)):
            server.fault = OSError("away") if number in faulty else None
            live.log(history_of(length))
            if number not in faulty:
                assert server.points["seed 0"] == list(range(1, length + 1))
        server.fault = None
    assert server.points["seed 0"] == list(range(1, max(lengths) + 1))
    assert server.status["seed 0"] == "FINISHED"


def test_a_training_that_fails_is_shown_as_failed(server):
    with pytest.raises(AnalogyQAError), live_log() as live:
        live.log(history_of(1))
        raise AnalogyQAError("diverged")
    assert set(server.status.values()) == {"FAILED"}


def test_an_outage_costs_one_warning(server, caplog):
    with live_log() as live:
        for epoch in range(1, 21):
            server.fault = OSError("gone\nand more") if epoch % 10 > 2 else None
            live.log(history_of(epoch))
        server.fault = None
    warnings = [entry.getMessage() for entry in caplog.records if entry.levelname == "WARNING"]
    assert len(warnings) == 2
    assert "http://server: the MLflow server does not take the epochs (gone)." in warnings[0]


@pytest.mark.parametrize("fault", [None, OSError("timeout")])
def test_slow_attempts_take_a_twentieth_of_the_time(server, fault):
    server.cost = 3.0
    live, begin = live_log(), server.time
    for epoch in range(1, 1001):
        server.time += 1.0
        server.fault = fault if epoch > 1 else None
        live.log(history_of(epoch))
    spent = server.requests * server.cost
    assert spent <= (server.time - begin) / 20 + 2 * server.cost
    assert server.requests > 10


def test_a_job_loads_mlflow_for_a_server_only():
    code = (
        "import sys; from analogyqa.plan import Cell; from analogyqa.tracking.live import LiveLog;"
        "LiveLog(sys.argv[1], 'results', Cell('m', 'd', 's', 1), 'paper');"
        "sys.exit('mlflow' in sys.modules)"
    )
    environment = {**os.environ, "PYTHONPATH": str(LIBRARY)}
    for tracking_uri, loaded in (("sqlite:///mlflow.db", 0), ("http://127.0.0.1:9", 1)):
        command = [sys.executable, "-c", code, tracking_uri]
        assert subprocess.run(command, env=environment).returncode == loaded
