"""Create, upgrade and update an MLflow tracking store."""

import json
import logging
import os
import re
import shutil
import sqlite3
import tempfile
from collections.abc import Container, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from pathlib import Path

from filelock import FileLock
from tqdm import tqdm

from analogyqa.errors import AnalogyQAError
from analogyqa.files import atomic_path
from analogyqa.runs.depends_on import content_hash
from analogyqa.settings.tracking import database_path
from analogyqa.tracking.records import (
    Data,
    Imported,
    Run,
    experiment_name,
    first_line,
    folder_label,
)

_SQLITE = "sqlite:///"
_PROXIED = "mlflow-artifacts:/"
_PATIENCE = 60  # seconds to wait for another program that writes to a database
_REFUSED = re.compile(r"\b40[13]\b")  # HTTP: unauthorised, forbidden
_BATCH = 900  # metrics per call; MLflow accepts 1000 entries, parameters included
# Without this tag, MLflow shows an experiment as one with a language model.
_EXPERIMENT_TAGS = {"mlflow.experimentKind": "custom_model_development"}
_LIVE = "live"  # replaces the paper in the name of the experiment of running jobs

_ENVIRONMENT = {
    # The artifacts of MLflow's own default experiment. By default they are in the working folder,
    # whose name MLflow inserts into an SQL statement without escaping it.
    "_MLFLOW_SERVER_ARTIFACT_ROOT": _PROXIED,
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "DO_NOT_TRACK": "true",
    "MLFLOW_LOGGING_LEVEL": "WARNING",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "3",  # the default of 7 waits minutes for a lost server
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "30",
    "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
}


def initialise(tracking_uri: str) -> None:
    """Create the SQLite store of `tracking_uri`, or upgrade its schema to this MLflow's.

    Any number of processes may call this at once: a file lock keeps them apart, and a new store
    gets its name only when it is complete. For a server, which manages its own store, do nothing.

    Raises AnalogyQAError when the file is damaged or cannot be written.
    """
    database = database_path(tracking_uri)
    if database is None:
        return
    with explained(tracking_uri):
        database.parent.mkdir(parents=True, exist_ok=True)
        with _lock(database):
            if database.exists():
                _check(database)
                _upgrade(database)
            else:
                with atomic_path(database) as temporary:
                    _upgrade(temporary)


def import_runs(
    tracking_uri: str, results: str | Path, runs: Mapping[str, list[Run]]
) -> dict[str, Imported]:
    """Update the MLflow experiments of an output folder, one for each paper.

    A run whose content has not changed is kept. A run that has changed is imported again, and the
    old one is moved to MLflow's trash. The tag `complete`, which is set last, marks complete
    imports; remains of a killed import are removed, and so are the runs shown during training.

    Args:
        tracking_uri: sqlite:///path or http(s)://server.
        results: The output folder.
        runs: The runs of each paper, as `shown.paper_runs` returns them.

    Returns what each experiment holds, by its name.

    Raises:
        AnalogyQAError: If the store cannot be written.
    """
    initialise(tracking_uri)
    imported = {}
    with explained(tracking_uri), _lock(database_path(tracking_uri)):
        for paper, paper_runs in runs.items():
            experiment = experiment_name(results, paper)
            by_record = {run.tags["record"]: run for run in paper_runs}
            added = Store(tracking_uri, experiment).update(by_record)
            imported[experiment] = Imported(
                cells=sum(bool(run.children) for run in paper_runs),
                seeds=sum(len(run.children) for run in paper_runs),
                files=sum(len(run.files) for run in paper_runs if not run.children),
                added=added,
                content_hash=content_hash({key: run.identity for key, run in by_record.items()}),
            )
        if live := Store.existing(tracking_uri, live_experiment_name(results)):
            live.delete({run.tags["record"] for paper_runs in runs.values() for run in paper_runs})
    return imported


def live_experiment_name(results: str | Path) -> str:
    """Return the name of the experiment that shows the running jobs of an output folder."""
    return f"{folder_label(results)}/{_LIVE}"


class Store:
    """One experiment of a tracking store."""

    @classmethod
    def existing(cls, tracking_uri: str, experiment: str) -> "Store | None":
        """Return the store of an experiment, None if the experiment does not exist."""
        prepare_environment()
        from mlflow import MlflowClient

        exists = MlflowClient(tracking_uri).get_experiment_by_name(experiment)
        return cls(tracking_uri, experiment) if exists else None

    def __init__(self, tracking_uri: str, experiment: str) -> None:
        prepare_environment()
        from mlflow import MlflowClient
        from mlflow.exceptions import MlflowException

        self.client = MlflowClient(tracking_uri)
        self.artifacts = artifacts_folder(tracking_uri)
        existing = self.client.get_experiment_by_name(experiment)
        if existing is None:
            # By default, MLflow stores an absolute path, which breaks when the checkout moves. This
            # scheme stands for whatever folder the server is started with. It starts a URI, in
            # which some characters of a folder's name would have a special meaning.
            plain = re.sub(r"[^A-Za-z0-9_-]", "_", experiment)
            location = _PROXIED + plain if self.artifacts else None
            try:
                self.experiment_id = self.client.create_experiment(
                    experiment, location, _EXPERIMENT_TAGS
                )
                return
            except MlflowException:
                # Another job that started at the same time may have created it first.
                existing = self.client.get_experiment_by_name(experiment)
                if existing is None:
                    raise
        self.experiment_id = existing.experiment_id
        if existing.lifecycle_stage == "deleted":
            self.client.restore_experiment(self.experiment_id)

    def update(self, runs: dict[str, Run]) -> int:
        """Add missing runs, delete outdated ones of their records; return the number added."""
        existing = [run for run in self._active_runs() if run.data.tags.get("record") in runs]
        identities = {record: run.identity for record, run in runs.items()}
        kept = {}
        for run in existing:
            tags = run.data.tags
            if tags.get("complete") == identities[tags["record"]]:
                kept[tags["record"]] = run.info.run_id
        missing = [record for record in runs if record not in kept]
        for record in tqdm(missing, desc="MLflow", unit="run", disable=None):
            run_id = self._add(runs[record])
            self.client.set_tag(run_id, "complete", identities[record])
        for run in existing:
            root = run.data.tags.get("mlflow.parentRunId", run.info.run_id)
            if root != kept.get(run.data.tags["record"]):
                self.client.delete_run(run.info.run_id)
        return len(missing)

    def delete(self, records: Container[str]) -> None:
        """Delete all runs of some records."""
        for run in list(self._active_runs()):
            if run.data.tags.get("record") in records:
                self.client.delete_run(run.info.run_id)

    def create(self, name: str, tags: dict, start: int | None = None, parent_id: str | None = None):
        """Create a run that starts now, or at `start`; return its mlflow RunInfo."""
        parent = {"mlflow.parentRunId": parent_id} if parent_id else {}
        return self.client.create_run(self.experiment_id, start, {**tags, **parent}, name).info

    def log_batches(
        self, run_id: str, metrics: list[tuple], params: dict[str, str] | None = None
    ) -> None:
        """Log metrics, given as tuples of mlflow's Metric, and parameters."""
        from mlflow.entities import Metric, Param

        entries = [Param(key, value) for key, value in (params or {}).items()]
        for first in range(0, max(1, len(metrics)), _BATCH):
            batch = [Metric(*metric) for metric in metrics[first : first + _BATCH]]
            self.client.log_batch(run_id, batch, [] if first else entries)

    def _active_runs(self) -> Iterator:
        token = None
        while True:
            page = self.client.search_runs([self.experiment_id], page_token=token)
            yield from page
            token = page.token
            if not token:
                return

    def _add(self, run: Run, parent_id: str | None = None) -> str:
        info = self.create(run.name, run.tags, run.start, parent_id)
        if run.data:
            self.client.log_inputs(info.run_id, [_input(data) for data in run.data])
        model_id = None if run.chosen_epoch is None else self._add_model(run, info.run_id)
        metrics = run.curves + [
            (name, value, run.end, 0, model_id, *_metric_data(name, run.data))
            for name, value in run.metrics.items()
        ]
        self.log_batches(info.run_id, metrics, run.params)
        for name, file in {**run.files, **run.logs}.items():
            self._add_file(info, file, Path(name).parent)
        for name, text in run.texts.items():
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder, name)
                file.write_text(text, encoding="utf-8")
                self._add_file(info, file, Path())
        for child in run.children:
            self._add(child, info.run_id)
        self.client.set_terminated(info.run_id, end_time=run.end)
        return info.run_id

    def _add_model(self, run: Run, run_id: str) -> str:
        """Add the chosen epoch as a model; return the id of the model."""
        from mlflow.entities import LoggedModelOutput

        # MLflow does not allow these characters in the name of a model.
        name = re.sub(r"[/:.%\"']", "-", run.name)
        model = self.client.create_logged_model(self.experiment_id, name, run_id, params=run.params)
        self.client.log_outputs(run_id, [LoggedModelOutput(model.model_id, run.chosen_epoch)])
        self.client.finalize_logged_model(model.model_id, "READY")
        return model.model_id

    def _add_file(self, info, file: Path, folder: Path) -> None:
        if self.artifacts and info.artifact_uri.startswith(_PROXIED):
            # Only a server resolves this scheme, so put the file where a server will look for it.
            target = self.artifacts / info.artifact_uri.removeprefix(_PROXIED) / folder
            target.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target / file.name)
        else:
            self.client.log_artifact(info.run_id, str(file), folder.as_posix().removeprefix("."))


def _input(data: Data):
    """Return data as mlflow's DatasetInput."""
    from mlflow.entities import Dataset, DatasetInput, InputTag

    profile = json.dumps({"num_rows": data.rows})
    source = json.dumps({"uri": data.source})
    dataset = Dataset(data.name, data.digest, "http", source, profile=profile)
    return DatasetInput(dataset, [InputTag("mlflow.data.context", data.context)])


def _metric_data(metric: str, data: list[Data]) -> tuple[str | None, str | None]:
    """Return the name and the digest of the data on which a metric was measured."""
    context = "validation" if metric.startswith("dev_") else "test"
    splits = ((split.name, split.digest) for split in data if split.context == context)
    return next(splits, (None, None))


def _lock(database: Path | None) -> AbstractContextManager:
    return FileLock(database.with_name(f".{database.name}.lock")) if database else nullcontext()


def _check(database: Path) -> None:
    """Raise sqlite3.Error unless the file is intact and writable.

    MLflow itself would retry a damaged file for a minute and a half.
    """
    with closing(sqlite3.connect(database, timeout=_PATIENCE, isolation_level=None)) as connection:
        (problem,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        if problem != "ok":
            raise sqlite3.DatabaseError(problem)
        connection.execute("BEGIN IMMEDIATE")


def _upgrade(database: Path) -> None:
    """Do what `mlflow db upgrade` does, without the three seconds of starting a process."""
    prepare_environment()
    import mlflow.db

    mlflow.db.upgrade.callback(f"{_SQLITE}{database}")


def prepare_environment() -> None:
    """Set the environment that MLflow reads when imported: make it quiet and keep it offline."""
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    logging.getLogger("alembic").setLevel(logging.WARNING)


@contextmanager
def explained(tracking_uri: str) -> Iterator[None]:
    """Turn errors of a tracking store into AnalogyQAError."""
    prepare_environment()
    from alembic.util import CommandError
    from mlflow.exceptions import MlflowException
    from sqlalchemy.exc import SQLAlchemyError

    try:
        yield
    except (MlflowException, SQLAlchemyError, CommandError, sqlite3.Error, OSError) as error:
        reason = first_line(error)
        database = database_path(tracking_uri)
        if database is None:
            remedy = (
                "Set MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD in the environment."
                if _REFUSED.search(reason)
                else "Start it, or remove tracking_uri from the configuration to use a file."
            )
            raise AnalogyQAError(
                f"{tracking_uri}: the MLflow server rejected the import ({reason}). {remedy}"
            ) from error
        remedy = (
            "Another program, such as a second import, is writing to it. Wait for it to finish, "
            "then run the same command again."
            if "database is locked" in reason
            else "Free some disk space, or make its folder writable. If the file is damaged, "
            f"delete it and {artifacts_folder(tracking_uri)}, then import again: both are rebuilt "
            "from the run records, so nothing is lost."
        )
        raise AnalogyQAError(
            f"{database}: the MLflow store cannot be used ({reason}). {remedy}"
        ) from error


def artifacts_folder(tracking_uri: str) -> Path | None:
    database = database_path(tracking_uri)
    return database and database.with_name("mlflow-artifacts")
