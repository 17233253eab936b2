"""Run records shown in MLflow.

The records under the output folder are the truth and MLflow is a view of them: deleting the store
and importing again gives the same runs. A run is a cell of a paper's tables, and each seed of the
cell is a child of that run. One experiment holds them all, as the papers share most cells. Where
`tracking_uri` is a server, it also shows the epochs of the cells that are in training.
"""

import json
import logging
import os
import shutil
import sqlite3
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import typer
from filelock import FileLock
from tqdm import tqdm

from analogyqa.checkpoints import atomic_path
from analogyqa.config import Cell, Config, cells_of, read_config, tracking_uri_of
from analogyqa.errors import AnalogyQAError
from analogyqa.metrics import MEASURES
from analogyqa.runs import content_hash, sha256
from analogyqa.schemas import HISTORY, METRICS, read_table

log = logging.getLogger(__name__)

EXPERIMENT = "diallo2019"
HOST = "127.0.0.1"

_SQLITE = "sqlite:///"
_PROXIED = "mlflow-artifacts:/"
_REPORTS = ("summary", "ledger", "claims", "comparisons", "sensitivity")
_BATCH = 900  # metrics a call; MLflow takes 1000 entries, which leaves room for the params
_CURVES = ["loss", "dev_map", "dev_mrr"]
_IDENTITY = ("content_hash", "metrics_sha256")
_ENVIRONMENT = {
    # Where MLflow's own default experiment has its artifacts; without it, in the folder of the
    # process, whose name MLflow writes into a statement of SQL as it is.
    "_MLFLOW_SERVER_ARTIFACT_ROOT": _PROXIED,
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "DO_NOT_TRACK": "true",
    "MLFLOW_LOGGING_LEVEL": "WARNING",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "3",  # MLflow's 7 wait minutes for a server that is away
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "30",
    "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
}
_LIVE_ENVIRONMENT = {"MLFLOW_HTTP_REQUEST_MAX_RETRIES": "0", "MLFLOW_HTTP_REQUEST_TIMEOUT": "3"}
_PAUSE = 20  # after an attempt to log live, as a multiple of the time that it took


class Imported(NamedTuple):
    """What a tracking store holds after an import.

    `cells`, `seeds` and `files` (tables, figures, ledger) count what was asked for, `added` how
    many of the runs above were not there before; the hash is of the content of them all.
    """

    cells: int
    seeds: int
    files: int
    added: int
    content_hash: str


@dataclass
class _Run:
    """A run as MLflow shall show it; times in milliseconds since 1970."""

    name: str
    tags: dict[str, str]
    start: int
    end: int
    params: dict[str, str] = field(default_factory=dict)
    metrics: list[tuple[str, float, int, int]] = field(default_factory=list)  # of mlflow's Metric
    files: dict[Path, str | None] = field(default_factory=dict)  # file to its artifact folder
    children: list["_Run"] = field(default_factory=list)


def initialise(tracking_uri: str) -> None:
    """Create the SQLite store of `tracking_uri`, or upgrade it to the schema of this MLflow.

    Processes that open a fresh store at once break it, so this holds a file lock, and a new store
    gets its name only when it is whole. Any number of processes may call it, any number of times.
    A server looks after its own store, so an http(s) URI is left alone.

    Raises AnalogyQAError when the file is damaged or cannot be written.
    """
    database = _database(tracking_uri)
    if database is None:
        return
    with _explained(tracking_uri):
        database.parent.mkdir(parents=True, exist_ok=True)
        with _lock(database):
            if database.exists():
                _check(database)
                _upgrade(database)
            else:
                with atomic_path(database) as temporary:
                    _upgrade(temporary)


def import_runs(
    tracking_uri: str,
    experiment: str,
    records: Sequence[str | Path],
    metrics: Sequence[str | Path],
    results: str | Path,
) -> Imported:
    """Bring an MLflow experiment up to date with run records, tables and figures.

    A cell whose content hash and metrics are there already is left alone. One that has changed is
    imported anew and its older run deleted, which in MLflow means moved to the trash: charts and
    searches then show one run a cell, and the older one can still be looked up. A run counts as
    imported when its tag `complete`, set last, says so; what a killed import left is removed.

    Args:
        tracking_uri: sqlite:///path or http(s)://server.
        experiment: the short name of a paper.
        records: the run.json of each cell, history.parquet beside it where the model was trained.
        metrics: the metrics table of each cell, in the same order.
        results: the output folder with the tables, figures and reports of all papers, each as far
            as it is there.

    Raises:
        AnalogyQAError: when a record cannot be read or the store cannot be written.
    """
    results = Path(results)
    pairs = zip(map(Path, records), map(Path, metrics), strict=True)
    cells = [_cell_run(record, table, results) for record, table in pairs]
    documents = _documents_run(experiment, results)
    runs = {run.tags["record"]: run for run in [*cells, *([documents] if documents else [])]}

    initialise(tracking_uri)
    database = _database(tracking_uri)
    with _explained(tracking_uri), _lock(database):
        added = _Store(tracking_uri, experiment).bring_up_to_date(runs)
    return Imported(
        cells=len(cells),
        seeds=sum(len(run.children) for run in cells),
        files=len(documents.files) if documents else 0,
        added=added,
        content_hash=content_hash({key: _identity(run.tags) for key, run in runs.items()}),
    )


class LiveLog:
    """The epochs of a cell, shown on an MLflow server while it trains.

    These runs are tagged `live`; the import of the cell's record removes them. Whatever the server
    does, the training goes on: an outage costs one warning, and a server that is back gets all
    epochs so far. After each attempt there is a pause 20 times as long, so that slow ones cost a
    twentieth of the time, besides the first and the last of a cell.

    Args:
        tracking_uri: of the configuration. Nothing is logged unless it is an http(s) address.
        results: the output folder.
        cell, setting: what is trained.
    """

    def __init__(
        self, tracking_uri: str | None, results: str | Path, cell: Cell, setting: str
    ) -> None:
        self.tracking_uri = tracking_uri
        self.name = _name(cell)
        self.tags = {"record": _record_tag(results, cell), **_cell_tags(cell)}
        self.tags |= {"setting": setting, "live": "true"}
        self.histories: dict[int, list[list]] = {}
        self.runs: dict[int | None, str] = {}  # seed to run, None to the parent
        self.sent: dict[int, int] = {}  # epochs of each seed
        self.store: _Store | None = None
        self.away = False
        self.next_attempt = 0.0
        self.enabled = tracking_uri is not None and _database(tracking_uri) is None
        if self.enabled:
            for variable, value in _LIVE_ENVIRONMENT.items():
                os.environ.setdefault(variable, value)
            _prepare_environment()
            # The seconds that this takes are not the server's.
            import mlflow  # noqa: F401

    def log(self, history: list[list]) -> None:
        """Show the epochs of a seed: `history` is all rows so far, columns as in HISTORY."""
        if self.enabled:
            self.histories[history[0][0]] = history
            if time.monotonic() >= self.next_attempt:
                self._attempt()

    def __enter__(self) -> "LiveLog":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self.histories:
            self._attempt(status="FAILED" if kind else "FINISHED")

    def _attempt(self, status: str | None = None) -> None:
        started = time.monotonic()
        try:
            self._send()
            for run_id in self.runs.values() if status else ():
                self.store.client.set_terminated(run_id, status)
            if self.away:
                log.info("%s: the MLflow server takes the epochs again", self.tracking_uri)
            self.away = False
        except Exception as error:  # no fault of a view may cost a result
            if not self.away:
                log.warning(
                    "%s: the MLflow server does not take the epochs (%s). The training goes on; "
                    "the import of its record will show them.",
                    self.tracking_uri,
                    _first_line(error),
                )
            self.away, self.store = True, None
        ended = time.monotonic()
        self.next_attempt = ended + _PAUSE * (ended - started)

    def _send(self) -> None:
        """Send what was not sent yet; everything, in new runs, at first and after a failure."""
        if self.store is None:
            store = _Store(self.tracking_uri, EXPERIMENT)
            store.delete_live(self.tags["record"])
            self.runs, self.sent = {None: store.create(self.name, self.tags).run_id}, {}
            self.store = store
        now = time.time_ns() // 1_000_000
        for seed, history in self.histories.items():
            if seed not in self.runs:
                created = self.store.create(f"seed {seed}", self.tags, parent_id=self.runs[None])
                self.runs[seed] = created.run_id
            epochs = pd.DataFrame(history[self.sent.get(seed, 0) :], columns=HISTORY.names)
            if len(epochs):
                curves = _curves(epochs, pd.Series(now, index=epochs.index))
                self.store.log_batches(self.runs[seed], curves)
                self.sent[seed] = len(history)


class _Store:
    """One experiment of a tracking store."""

    def __init__(self, tracking_uri: str, experiment: str) -> None:
        _prepare_environment()
        from mlflow import MlflowClient
        from mlflow.exceptions import MlflowException

        self.client = MlflowClient(tracking_uri)
        self.artifacts = _artifacts(tracking_uri)
        found = self.client.get_experiment_by_name(experiment)
        if found is None:
            # MLflow would store an absolute folder here, which is wrong as soon as the checkout
            # moves. The scheme below stands for whatever folder the server is started with.
            location = _PROXIED + experiment if self.artifacts else None
            try:
                self.experiment_id = self.client.create_experiment(experiment, location)
                return
            except MlflowException:
                # Of the jobs that begin at once another one was first.
                found = self.client.get_experiment_by_name(experiment)
                if found is None:
                    raise
        self.experiment_id = found.experiment_id
        if found.lifecycle_stage == "deleted":
            self.client.restore_experiment(self.experiment_id)

    def bring_up_to_date(self, runs: dict[str, _Run]) -> int:
        """Add the runs that are not there, remove others of the same records; return the added."""
        existing = [run for run in self._active_runs() if run.data.tags.get("record") in runs]
        kept = {}
        for run in existing:
            tags = run.data.tags
            if tags.get("complete") and _identity(tags) == _identity(runs[tags["record"]].tags):
                kept[tags["record"]] = run.info.run_id
        missing = [run for record, run in runs.items() if record not in kept]
        for run in tqdm(missing, desc="MLflow", unit="run", disable=None):
            self._add(run)
        for run in existing:
            root = run.data.tags.get("mlflow.parentRunId", run.info.run_id)
            if root != kept.get(run.data.tags["record"]):
                self.client.delete_run(run.info.run_id)
        return len(missing)

    def delete_live(self, record: str) -> None:
        """Remove what an earlier training of this record, killed or cut off, has left."""
        for run in list(self._active_runs("tags.live = 'true'")):
            if run.data.tags["record"] == record:
                self.client.delete_run(run.info.run_id)

    def create(
        self,
        name: str,
        tags: dict[str, str],
        start: int | None = None,
        parent_id: str | None = None,
    ):
        """Create a run and return its mlflow RunInfo; it starts now unless `start` says when."""
        if parent_id:
            tags = {**tags, "mlflow.parentRunId": parent_id}
        return self.client.create_run(self.experiment_id, start, tags, name).info

    def log_batches(
        self, run_id: str, metrics: list[tuple], params: dict[str, str] | None = None
    ) -> None:
        """Log metrics, tuples of mlflow's Metric, and the params."""
        from mlflow.entities import Metric, Param

        entries = [Param(key, value) for key, value in (params or {}).items()]
        for first in range(0, max(1, len(metrics)), _BATCH):
            batch = [Metric(*metric) for metric in metrics[first : first + _BATCH]]
            self.client.log_batch(run_id, batch, [] if first else entries)

    def _active_runs(self, condition: str = "") -> Iterator:
        token = None
        while True:
            page = self.client.search_runs([self.experiment_id], condition, page_token=token)
            yield from page
            token = page.token
            if not token:
                return

    def _add(self, run: _Run, parent_id: str | None = None) -> None:
        info = self.create(run.name, run.tags, run.start, parent_id)
        self.log_batches(info.run_id, run.metrics, run.params)
        for file, folder in run.files.items():
            self._add_file(info, file, folder)
        for child in run.children:
            self._add(child, info.run_id)
        self.client.set_terminated(info.run_id, end_time=run.end)
        if parent_id is None:
            self.client.set_tag(info.run_id, "complete", "true")

    def _add_file(self, info, file: Path, folder: str | None) -> None:
        if self.artifacts and info.artifact_uri.startswith(_PROXIED):
            # Only a server resolves this scheme; without one, put the file where it will look.
            target = self.artifacts / info.artifact_uri.removeprefix(_PROXIED) / (folder or "")
            target.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target / file.name)
        else:
            self.client.log_artifact(info.run_id, str(file), folder)


def _cell_run(record_path: Path, metrics_path: Path, results: Path) -> _Run:
    """Return the run of one cell, its seeds as children.

    MLflow wants times; the record ends when its file was written, `wall_seconds` after the start.
    """
    record = _read_record(record_path)
    cell, settings = Cell(**record["cell"]), record["settings"]
    end = _modified(record_path)
    start = end - round(1000 * (record.get("wall_seconds") or 0))
    tags = {
        "record": _record_tag(results, cell),
        **_cell_tags(cell),
        "setting": settings.get("setting"),
        "content_hash": record["content_hash"],
        "metrics_sha256": sha256(metrics_path),
        "git_commit": record.get("git_commit"),
        "device": record.get("device"),
        "scores": os.path.relpath(record_path.with_name("scores.parquet"), results),
    }
    tags = {key: str(value) for key, value in tags.items() if value is not None}
    params = _flatten(settings)
    measured = _measured(metrics_path)
    deviation = measured.std(ddof=1).fillna(0).add_suffix("_sd")
    run = _Run(
        name=_name(cell),
        tags=tags,
        params={**params, "seeds": ", ".join(map(str, record["seeds"]))},
        metrics=_finals(pd.concat([measured.mean(), deviation]), end),
        start=start,
        end=end,
        files={record_path: None},
    )
    history_path = record_path.with_name("history.parquet")
    history = read_table(history_path, HISTORY) if history_path.exists() else None
    for seed, values in measured.iterrows():
        child = _Run(f"seed {seed}", tags, start, end, {**params, "seed": str(seed)})
        if history is not None:
            epochs = history[history["seed"] == seed].sort_values("epoch")
            times = start + (1000 * epochs["seconds"].cumsum()).round().astype(int)
            child.end = int(times.max())
            child.metrics = _curves(epochs, times)
        child.metrics += _finals(values, child.end)
        run.children.append(child)
    return run


def _documents_run(experiment: str, results: Path) -> _Run | None:
    """Return the run that carries the tables, figures and reports, None when there are none."""
    files = {
        path: path.parent.relative_to(results).as_posix()
        for folder in ("tables", "figures")
        for path in sorted((results / folder).glob("*/*"))
    }
    files |= {path: None for name in _REPORTS for path in sorted(results.glob(f"{name}.*"))}
    if not files:
        return None
    end = max(map(_modified, files))
    hashes = {path.relative_to(results).as_posix(): sha256(path) for path in files}
    tags = {"record": f"{results.name}/{experiment}", "content_hash": content_hash(hashes)}
    return _Run("tables and figures", tags, end, end, files=files)


def _read_record(path: Path) -> dict:
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        Cell(**record["cell"]), record["settings"], record["seeds"], record["content_hash"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise AnalogyQAError(
            f"{path}: not a run record ({error!r}). "
            "Delete it, then run the same command again to rebuild it."
        ) from error
    return record


def _name(cell: Cell) -> str:
    return f"{cell.model} {cell.dataset} {cell.subset} p{cell.p}"


def _record_tag(results: str | Path, cell: Cell) -> str:
    """Return what the runs of one record have in common, whichever checkout it lies in."""
    return f"{Path(results).name}/{cell.path}"


def _cell_tags(cell: Cell) -> dict[str, str]:
    return {key: str(value) for key, value in cell._asdict().items()}


def _measured(metrics_path: Path) -> pd.DataFrame:
    """Return the mean over questions: a row a seed, columns test_map, test_mrr, dev_map, ..."""
    table = read_table(metrics_path, METRICS).astype({"split": str})
    means = table.groupby(["seed", "split"])[list(MEASURES.values())].mean().unstack("split")
    names = {column: name for name, column in MEASURES.items()}
    means.columns = [f"{split}_{names[column]}" for column, split in means.columns]
    return means


def _finals(values: pd.Series, time: int) -> list[tuple[str, float, int, int]]:
    return [(name, float(value), time, 0) for name, value in values.items()]


def _curves(epochs: pd.DataFrame, times: pd.Series) -> list[tuple[str, float, int, int]]:
    """Return a point per epoch and curve, apart by name from the final dev_map and dev_mrr."""
    return [
        (f"epoch/{name}", float(value), int(time), int(epoch))
        for name in _CURVES
        for value, time, epoch in zip(epochs[name], times, epochs["epoch"], strict=True)
        if pd.notna(value)
    ]


def _flatten(settings: dict, prefix: str = "") -> dict[str, str]:
    flat = {}
    for key, value in settings.items():
        if isinstance(value, dict):
            flat |= _flatten(value, f"{prefix}{key}.")
        elif value is not None:
            flat[prefix + key] = str(value)
    return flat


def _identity(tags: dict[str, str]) -> list[str | None]:
    return [tags.get(key) for key in _IDENTITY]


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]


def _modified(path: Path) -> int:
    return path.stat().st_mtime_ns // 1_000_000


def _database(tracking_uri: str) -> Path | None:
    """Return the file of an SQLite URI, None for a server."""
    if tracking_uri.startswith(_SQLITE) and tracking_uri != _SQLITE:
        return Path(tracking_uri.removeprefix(_SQLITE))
    if tracking_uri.startswith(("http://", "https://")):
        return None
    raise AnalogyQAError(
        f"tracking_uri: {tracking_uri!r} is not allowed: give sqlite:///path/to/mlflow.db "
        "or the http(s) address of an MLflow server"
    )


def _artifacts(tracking_uri: str) -> Path | None:
    database = _database(tracking_uri)
    return database and database.with_name("mlflow-artifacts")


def _lock(database: Path | None) -> AbstractContextManager:
    return FileLock(database.with_name(f".{database.name}.lock")) if database else nullcontext()


def _check(database: Path) -> None:
    """Raise sqlite3.Error unless the file is sound and can be written.

    MLflow itself would try ten times to open a damaged file, for a minute and a half.
    """
    with closing(sqlite3.connect(database, timeout=60, isolation_level=None)) as connection:
        (problem,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        if problem != "ok":
            raise sqlite3.DatabaseError(problem)
        connection.execute("BEGIN IMMEDIATE")


def _upgrade(database: Path) -> None:
    """Do what `mlflow db upgrade` does, without the three seconds of another process."""
    _prepare_environment()
    import mlflow.db

    mlflow.db.upgrade.callback(f"{_SQLITE}{database}")


def _prepare_environment() -> None:
    """Ask MLflow, which reads this when imported, to be silent and to stay off the network."""
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    logging.getLogger("alembic").setLevel(logging.WARNING)


@contextmanager
def _explained(tracking_uri: str) -> Iterator[None]:
    """Turn what goes wrong in a tracking store into an AnalogyQAError."""
    _prepare_environment()
    from alembic.util import CommandError
    from mlflow.exceptions import MlflowException
    from sqlalchemy.exc import SQLAlchemyError

    try:
        yield
    except (MlflowException, SQLAlchemyError, CommandError, sqlite3.Error, OSError) as error:
        reason = _first_line(error)
        database = _database(tracking_uri)
        if database is None:
            raise AnalogyQAError(
                f"{tracking_uri}: the MLflow server did not take the import ({reason}). Start it, "
                "or remove tracking_uri from the configuration to track in a file."
            ) from error
        raise AnalogyQAError(
            f"{database}: the MLflow store cannot be used ({reason}). Make room on the disk or its "
            f"folder writable; if it is damaged, delete it and {_artifacts(tracking_uri)} and "
            "import again: nothing is lost, both are made from the run records."
        ) from error


app = typer.Typer(add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False)
_config_option = typer.Option("config.yaml", help="The configuration of the run.")


@app.command("import")
def import_(config: Path = _config_option) -> None:
    """Import the run records that are there so far into MLflow."""
    _import_available(read_config(config))


@app.command()
def ui(config: Path = _config_option, port: int = 5000) -> None:
    """Import the run records that are there so far, then open the MLflow UI on this machine."""
    settings = read_config(config)
    _import_available(settings)
    tracking_uri = tracking_uri_of(settings)
    artifacts = _artifacts(tracking_uri)
    address = f"http://{HOST}:{port}" if artifacts else tracking_uri.rstrip("/")
    # The start page of MLflow is about language models; lead past it.
    with _explained(tracking_uri):
        experiment_id = _Store(tracking_uri, EXPERIMENT).experiment_id
    print(f"MLflow UI: {address}/#/experiments/{experiment_id}/runs")
    if artifacts is None:
        return
    print("Ctrl-C ends it.", flush=True)
    command = [sys.executable, "-m", "mlflow", "ui", "--backend-store-uri", tracking_uri]
    command += ["--registry-store-uri", tracking_uri, "--artifacts-destination", str(artifacts)]
    command += ["--workers", "1", "--uvicorn-opts", "--log-level warning"]
    os.environ.setdefault("PYTHONWARNINGS", "ignore")
    os.execv(sys.executable, [*command, "--host", HOST, "--port", str(port)])


def _import_available(config: Config) -> None:
    results = Path(config.output_dir)
    cells = [
        tuple(results / "runs" / cell.path / name for name in ("run.json", "metrics.parquet"))
        for cell in cells_of(config)
    ]
    available = [pair for pair in cells if all(path.exists() for path in pair)]
    records, metrics = zip(*available, strict=True) if available else ((), ())
    tracking_uri = tracking_uri_of(config)
    imported = import_runs(tracking_uri, EXPERIMENT, records, metrics, results)
    print(
        f"{tracking_uri}: {EXPERIMENT} has {imported.cells} cells with {imported.seeds} seeds and "
        f"{imported.files} tables and figures ({imported.added} runs new); "
        f"{len(cells) - len(available)} cells have not run yet"
    )


if __name__ == "__main__":
    try:
        app()
    except AnalogyQAError as error:
        sys.exit(f"error: {error}")
