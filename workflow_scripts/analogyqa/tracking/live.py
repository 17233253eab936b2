"""Show the epochs of a training run on an MLflow server while it runs."""

import logging
import os
import time
from pathlib import Path

import pandas as pd

from analogyqa.plan import Cell
from analogyqa.schemas import HISTORY
from analogyqa.settings.tracking import database_path
from analogyqa.tracking.records import (
    cell_params,
    cell_tags,
    curve_points,
    first_line,
    run_name,
)
from analogyqa.tracking.store import Store, live_experiment_name, prepare_environment

log = logging.getLogger(__name__)

_LIVE_ENVIRONMENT = {"MLFLOW_HTTP_REQUEST_MAX_RETRIES": "0", "MLFLOW_HTTP_REQUEST_TIMEOUT": "3"}
_PAUSE = 20  # the pause after an attempt to log, as a multiple of its duration


class LiveLog:
    """Shows the epochs of a cell on an MLflow server while the cell trains.

    The runs are in an experiment of their own; importing the cell's record removes them from it.
    Training continues whatever the server does: an outage causes one warning, and a server that is
    back gets all epochs so far. Each attempt to log is followed by a pause 20 times as long, so
    slow servers cost at most a twentieth of the time, apart from the first and the last attempt.

    Args:
        tracking_uri: The configured URI. Only an http(s) address is used.
        results: The output folder.
        cell: The cell that trains.
        hyperparameters: The name of its hyperparameters.
    """

    def __init__(
        self, tracking_uri: str | None, results: str | Path, cell: Cell, hyperparameters: str
    ) -> None:
        self.tracking_uri = tracking_uri
        self.name = run_name(cell)
        self.experiment = live_experiment_name(results)
        self.tags = {**cell_tags(results, cell), "hyperparameters": hyperparameters}
        self.params = cell_params(cell)
        self.histories: dict[int, list[list]] = {}
        self.runs: dict[int | None, str] = {}  # run ids by seed; None for the parent
        self.sent: dict[int, int] = {}  # the number of rows sent for each seed
        self.store: Store | None = None
        self.monitor = None
        self.is_away = False
        self.next_attempt = 0.0
        self.enabled = tracking_uri is not None and database_path(tracking_uri) is None
        if self.enabled:
            for variable, value in _LIVE_ENVIRONMENT.items():
                os.environ.setdefault(variable, value)
            prepare_environment()
            # Import here, so that the first attempt times only the server.
            import mlflow  # noqa: F401

    def log(self, history: list[list]) -> None:
        """Show the epochs of a seed; `history` has all its rows of HISTORY so far."""
        if self.enabled:
            self.histories[history[0][0]] = history
            if time.monotonic() >= self.next_attempt:
                self._attempt()

    def __enter__(self) -> "LiveLog":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self.monitor:
            self.monitor.finish()
        if self.histories:
            self._attempt(status="FAILED" if kind else "FINISHED")

    def _attempt(self, status: str | None = None) -> None:
        started = time.monotonic()
        try:
            self._send()
            for run_id in self.runs.values() if status else ():
                self.store.client.set_terminated(run_id, status)
            if self.is_away:
                log.info("%s: the MLflow server accepts epochs again", self.tracking_uri)
            self.is_away = False
        except Exception as error:  # a failure of MLflow must not cost a result
            if not self.is_away:
                log.warning(
                    "%s: the MLflow server does not accept epochs (%s). Training continues; the "
                    "epochs will appear when the record of the cell is imported.",
                    self.tracking_uri,
                    first_line(error),
                )
            self.is_away, self.store = True, None
        ended = time.monotonic()
        self.next_attempt = ended + _PAUSE * (ended - started)

    def _watch_the_machine(self) -> None:
        """Log processor, memory and GPU use with MLflow's own thread, which ends in an outage."""
        from mlflow.system_metrics.system_metrics_monitor import SystemMetricsMonitor

        logging.getLogger("mlflow.system_metrics").setLevel(logging.ERROR)
        self.monitor = SystemMetricsMonitor(self.runs[None], tracking_uri=self.tracking_uri)
        self.monitor.start()

    def _send(self) -> None:
        """Send new epochs; the first time and after a failure, send all epochs in new runs."""
        if self.store is None:
            store = Store(self.tracking_uri, self.experiment)
            store.delete({self.tags["record"]})
            self.runs, self.sent = {None: store.create(self.name, self.tags).run_id}, {}
            store.log_batches(self.runs[None], [], self.params)
            self.store = store
            self._watch_the_machine()
        now = time.time_ns() // 1_000_000
        for seed, history in self.histories.items():
            if seed not in self.runs:
                name = f"seed {seed}, {self.name}"
                created = self.store.create(name, self.tags, parent_id=self.runs[None])
                self.runs[seed] = created.run_id
            epochs = pd.DataFrame(history[self.sent.get(seed, 0) :], columns=HISTORY.names)
            if len(epochs):
                curves = curve_points(epochs, pd.Series(now, index=epochs["epoch"].unique()))
                self.store.log_batches(self.runs[seed], curves)
                self.sent[seed] = len(history)
