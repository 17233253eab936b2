"""An MLflow tracking store, which is an SQLite file or a server, its experiments and its errors."""

import errno
import logging
import re
import shutil
import sqlite3
import tempfile
from collections import defaultdict
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import NamedTuple

import mlflow.db
from alembic.util import CommandError
from filelock import FileLock
from mlflow import MlflowClient
from mlflow.entities import LoggedModelOutput, Metric, Param, Run
from mlflow.exceptions import MlflowException
from mlflow.utils import get_results_from_paginated_fn
from sqlalchemy import Engine, event
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import ConnectionPoolEntry
from tqdm import tqdm

from analogyqa.errors import AnalogyQAError
from analogyqa.files import atomic_path
from analogyqa.folders import why_not_writable
from analogyqa.settings.tracking import ARTIFACTS, artifacts_folder, database_path, sqlite_uri
from analogyqa.tracking import PROXIED, set_defaults

_PATIENCE = 60  # seconds to wait for another program that writes to a database
_BATCH = 900  # metrics per call; MLflow accepts 1000 entries, parameters included
# Without this tag, MLflow shows an experiment as one with a language model.
_EXPERIMENT_TAGS = {"mlflow.experimentKind": "custom_model_development"}
# By default, MLflow waits minutes for a lost server.
_WAITING = {"MLFLOW_HTTP_REQUEST_MAX_RETRIES": "3", "MLFLOW_HTTP_REQUEST_TIMEOUT": "30"}

SERVED = "served_model"  # the tag of a cell's run with the id of the model that can be served

logging.getLogger("alembic").setLevel(logging.WARNING)


class Importable(NamedTuple):
    """A record, or the tables and figures of a paper, to import as a run."""

    record: str  # its name, which is the tag `record` of its runs
    content_hash: str  # of everything that the runs show, except times
    add: Callable[["MlflowExperiment"], str]  # adds the runs, and returns the id of the first
    seeds: int = 0  # the number of runs below the first


def initialise(tracking_uri: str) -> None:
    """Create the SQLite store of `tracking_uri`, or upgrade its schema to this MLflow's.

    Any number of processes may call this at once: a file lock keeps them apart, and a new store
    gets its name only when it is complete. For a server, which manages its own store, do nothing.

    Raises AnalogyQAError when the file is damaged or cannot be written.
    """
    database = database_path(tracking_uri)
    if database is None:
        return
    with readable_errors(tracking_uri):
        database.parent.mkdir(parents=True, exist_ok=True)
        with lock(database):
            if database.exists():
                _check(database)
                _upgrade(database)
            else:
                with atomic_path(database) as temporary:
                    temporary.touch()  # SQLite itself would create a file that no group may write
                    _upgrade(temporary)


def import_runs(
    tracking_uri: str, results: str | Path, runs: Mapping[str, Sequence[Importable]]
) -> dict[str, int]:
    """Update the MLflow experiments of an output folder, one for each paper.

    A run whose content has not changed is kept. A run that has changed, or of which a seed, a model
    or the files were deleted in MLflow, is imported again, and the old one is moved to MLflow's
    trash. The tag `complete`, which is set last, marks complete imports; remains of a killed import
    are removed, and so are the runs shown during training.

    Returns the number of runs that were added to each experiment, by its name.

    Raises AnalogyQAError when the store at `tracking_uri` (sqlite:///path or http(s)://server)
    cannot be written.
    """
    set_defaults(_WAITING)
    initialise(tracking_uri)
    added = {}
    with readable_errors(tracking_uri), lock(database_path(tracking_uri)):
        for paper, paper_runs in runs.items():
            name = experiment_name(results, paper)
            added[name] = MlflowExperiment(tracking_uri, name).update(paper_runs)
        live = experiment_name(results, "live")
        if MlflowClient(tracking_uri).get_experiment_by_name(live):
            imported = {run.record for paper_runs in runs.values() for run in paper_runs}
            MlflowExperiment(tracking_uri, live).delete(imported)
    return added


def experiment_name(results: str | Path, name: str) -> str:
    """Return the name of an experiment or a record, which is the same in any checkout.

    `name` is a paper, the path of a cell, or `live` for the running jobs of the output folder.
    """
    return f"{Path(results).resolve().name}/{name}"


class MlflowExperiment:
    """An experiment of a tracking store, which is created if it does not exist."""

    def __init__(self, tracking_uri: str, name: str) -> None:
        self.client = MlflowClient(tracking_uri)
        self._artifacts = artifacts_folder(tracking_uri)
        # By default, MLflow stores an absolute path, which breaks when the checkout moves. The
        # scheme stands for the folder that the server is started with. Names are cleaned because
        # some characters are special in a URI.
        plain = re.sub(r"[^A-Za-z0-9_-]", "_", name)
        location = PROXIED + plain if self._artifacts else None
        existing = self.client.get_experiment_by_name(name)
        if existing is None:
            try:
                self.id = self.client.create_experiment(name, location, _EXPERIMENT_TAGS)
                return
            except MlflowException:
                # Another job that started at the same time may have created it first.
                existing = self.client.get_experiment_by_name(name)
                if existing is None:
                    raise
        self.id = existing.experiment_id
        if existing.lifecycle_stage == "deleted":
            self.client.restore_experiment(self.id)

    def update(self, runs: Sequence[Importable]) -> int:
        """Add missing runs, delete outdated ones of their records; return the number added."""
        by_record = {run.record: run for run in runs}
        existing = [run for run in self.active_runs() if run.data.tags.get("record") in by_record]
        seeds: dict[str | None, list[Run]] = defaultdict(list)  # by the id of the run above them
        for run in existing:
            seeds[run.data.tags.get("mlflow.parentRunId")].append(run)
        search_models = self.client.search_logged_models
        models = {model.model_id for model in self._find_all(search_models, 100)}

        def is_unchanged(run: Run) -> bool:
            """Return whether nothing of a run has changed, and nothing was deleted in MLflow."""
            importable, below = by_record[run.data.tags["record"]], seeds[run.info.run_id]
            outputs = [seed.outputs.model_outputs for seed in below if seed.outputs]
            used = {model.model_id for seed_models in outputs for model in seed_models}
            files = self._local_folder(run.info.artifact_uri)
            return (
                run.data.tags.get("complete") == importable.content_hash
                and len(below) == importable.seeds
                and used <= models
                and (files is None or files.is_dir())
            )

        kept = {run.data.tags["record"]: run.info.run_id for run in existing if is_unchanged(run)}
        missing = [run for run in runs if run.record not in kept]
        for importable in tqdm(missing, desc="MLflow", unit="run", disable=None):
            run_id = importable.add(self)
            self.client.set_tag(run_id, "complete", importable.content_hash)
        for run in existing:
            root = run.data.tags.get("mlflow.parentRunId", run.info.run_id)
            if root != kept.get(run.data.tags["record"]):
                self.client.delete_run(run.info.run_id)
        return len(missing)

    def delete(self, records: Container[str]) -> None:
        """Delete all runs of some records."""
        for run in self.active_runs():
            if run.data.tags.get("record") in records:
                self.client.delete_run(run.info.run_id)

    def create(
        self,
        name: str,
        tags: Mapping[str, str],
        start: int | None = None,
        parent: str | None = None,
    ) -> str:
        """Create a run that starts now, or at `start`; return its id."""
        above = {"mlflow.parentRunId": parent} if parent else {}
        return self.client.create_run(self.id, start, {**tags, **above}, name).info.run_id

    def log(
        self, run_id: str, metrics: Sequence[Metric] = (), params: Mapping[str, str] = {}
    ) -> None:
        """Add metrics and parameters to a run, in as few calls as MLflow allows."""
        entries = [Param(key, value) for key, value in params.items()]
        for first in range(0, max(len(metrics), 1), _BATCH):
            self.client.log_batch(run_id, metrics[first : first + _BATCH], entries)
            entries = []

    def add_files(self, run_id: str, files: Mapping[str, Path]) -> None:
        """Add files to a run by the names of their artifacts."""

        def copy(folder: Path) -> None:
            for name, file in files.items():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, folder / name)

        uri = self.client.get_run(run_id).info.artifact_uri
        self._write(uri, copy, partial(self.client.log_artifacts, run_id))

    def add_model(
        self, name: str, run_id: str, epoch: int, write: Callable[[Path], None] | None = None
    ) -> str:
        """Add the model of an epoch to a run; return its id. `write` writes its files."""
        model = self.client.create_logged_model(self.id, name, run_id)
        if write:
            upload = partial(self.client.log_model_artifacts, model.model_id)
            self._write(model.artifact_location, write, upload)
        self.client.log_outputs(run_id, [LoggedModelOutput(model.model_id, epoch)])
        self.client.finalize_logged_model(model.model_id, "READY")
        return model.model_id

    def _write(
        self, uri: str, write: Callable[[Path], None], upload: Callable[[str], None]
    ) -> None:
        """Let a function write files into the folder of a URI, or into one that is uploaded."""
        if folder := self._local_folder(uri):
            write(folder)
            return
        with tempfile.TemporaryDirectory() as temporary:
            write(Path(temporary))
            upload(temporary)

    def _local_folder(self, uri: str) -> Path | None:
        """Return where a server will look for the files of a URI, None if the store is a server."""
        if self._artifacts and uri.startswith(PROXIED):  # only a server resolves this scheme
            return self._artifacts / uri.removeprefix(PROXIED)
        return None

    def active_runs(self) -> list[Run]:
        return self._find_all(self.client.search_runs, 1000)

    def _find_all(self, search: Callable, page: int) -> list:
        return get_results_from_paginated_fn(
            lambda number, token: search([self.id], max_results=number, page_token=token), page
        )


@event.listens_for(Engine, "connect")
def _leave_flushing_to_the_system(connection: DBAPIConnection, _: ConnectionPoolEntry) -> None:
    """Do not wait for the disk at each of thousands of commits: the store can be rebuilt."""
    if isinstance(connection, sqlite3.Connection):
        connection.execute("PRAGMA synchronous = OFF")


def lock(database: Path | None) -> AbstractContextManager:
    return FileLock(database.with_name(f".{database.name}.lock")) if database else nullcontext()


def _check(database: Path) -> None:
    """Raise sqlite3.Error or OSError unless the file is intact and writable.

    MLflow itself would retry a damaged file for a minute and a half.
    """
    database.open("r+b").close()  # SQLite would open a file that is read-only
    with closing(sqlite3.connect(database, timeout=_PATIENCE, isolation_level=None)) as connection:
        (problem,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        if problem != "ok":
            raise sqlite3.DatabaseError(problem)
        connection.execute("BEGIN IMMEDIATE")


def _upgrade(database: Path) -> None:
    """Do what `mlflow db upgrade` does, without the three seconds of starting a process."""
    mlflow.db.upgrade.main([sqlite_uri(database)], standalone_mode=False)


_STATUS = re.compile(r"(?:error code|too many) (\d{3})\b")  # HTTP
_UNREACHABLE = re.compile(r"failed with (timeout )?exception")


@contextmanager
def readable_errors(tracking_uri: str) -> Iterator[None]:
    """Turn errors of a tracking store into AnalogyQAError."""
    try:
        yield
    except (MlflowException, SQLAlchemyError, CommandError, sqlite3.Error, OSError) as error:
        reason = first_line(error)
        if database := database_path(tracking_uri):
            what, remedy = f"{database}: the MLflow store", _file_remedy(database, error, reason)
        else:
            what, remedy = f"{tracking_uri}: the MLflow server", _server_remedy(error, reason)
        if "disk is full" in reason or getattr(error, "errno", None) == errno.ENOSPC:
            remedy = "Free some disk space, then run the same command again."
        raise AnalogyQAError(f"{what} cannot be used ({reason}). {remedy}") from error


def first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]


def _file_remedy(database: Path, error: Exception, reason: str) -> str:
    if "database is locked" in reason:
        return (
            "Another program, such as a second import, is writing to it. Wait for it to finish, "
            "then run the same command again."
        )
    return (
        why_not_writable(database.parent)
        or _path_problem(error)
        or f"If the file is damaged, delete it and {database.with_name(ARTIFACTS)}, then import "
        "again: both are rebuilt from the run records, so nothing is lost."
    )


def _server_remedy(error: Exception, reason: str) -> str:
    status = found[1] if (found := _STATUS.search(reason)) else ""
    if problem := _path_problem(error):
        return (
            "It makes its clients write artifacts into a folder of their own machine, unless it is "
            f"started with --artifacts-destination. {problem}"
        )
    if status in ("401", "403"):
        return "Set MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD in the environment."
    if status == "404" or status.startswith("3") or "valid JSON" in reason:
        return "There is no MLflow server at this address. Correct tracking_uri."
    if status and "/mlflow-artifacts/" in reason:
        return (
            "It is running, but cannot store artifacts. Make the folder of its option "
            "--artifacts-destination writable, with space left on its disk."
        )
    if status or not (isinstance(error, OSError) or _UNREACHABLE.search(reason)):
        return "It is running, but answers with an error. Its log says why."
    return "Start it, correct tracking_uri, or remove that key to use a file."


def _path_problem(error: Exception) -> str:
    """Return why the path of an error cannot be written, with the remedy, "" if it has none."""
    if not isinstance(error, OSError) or not error.filename:
        return ""
    path = Path(error.filename)
    is_folder = isinstance(error, FileExistsError | NotADirectoryError)
    if problem := why_not_writable(path if is_folder else path.parent):
        return problem
    is_refused = isinstance(error, PermissionError)
    return f"Make {path} writable for you or your group." if is_refused else ""
