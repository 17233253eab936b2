"""Show the epochs of a training run on an MLflow server while it runs."""

import logging
import time
from pathlib import Path

import pandas as pd

from analogyqa.cells import Cell
from analogyqa.schemas import HISTORY
from analogyqa.tracking import set_defaults
from analogyqa.tracking.records import cell_params, curve_points, run_name
from analogyqa.tracking.store import MlflowExperiment, experiment_name, first_line

log = logging.getLogger(__name__)

_WAITING = {"MLFLOW_HTTP_REQUEST_MAX_RETRIES": "0", "MLFLOW_HTTP_REQUEST_TIMEOUT": "3"}
_PAUSE = 20  # the pause after an attempt to log, as a multiple of its duration


class LiveLog:
    """Shows the epochs of a cell on an MLflow server, in a run for each seed.

    The runs are in an experiment of their own; importing the cell's record removes them from it.
    Training continues whatever the server does: an outage causes one warning, and a server that is
    back gets all epochs so far. Each attempt to log is followed by a pause 20 times as long, so
    slow servers cost at most a twentieth of the time, apart from the first and the last attempt.
    """

    def __init__(
        self, tracking_uri: str, results: str | Path, cell: Cell, hyperparameters: str
    ) -> None:
        set_defaults(_WAITING)
        self._tracking_uri, self._cell = tracking_uri, cell
        self._experiment_name = experiment_name(results, "live")
        record = experiment_name(results, cell.path)
        self._tags = {"record": record, "hyperparameters": hyperparameters}
        self._histories: dict[int, list[list]] = {}
        self._experiment: MlflowExperiment | None = None
        self._runs: dict[int, str] = {}  # run ids by seed
        self._sent: dict[int, int] = {}  # the number of rows sent for each seed
        self._is_away = False
        self._next_attempt = 0.0

    def log(self, history: list[list]) -> None:
        """Show the epochs of a seed; `history` has all its rows of HISTORY so far."""
        self._histories[history[0][0]] = history
        if time.monotonic() >= self._next_attempt:
            self._attempt()

    def __enter__(self) -> "LiveLog":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._histories:
            self._attempt(status="FAILED" if kind else "FINISHED")

    def _attempt(self, status: str | None = None) -> None:
        started = time.monotonic()
        try:
            self._send(status)
            if self._is_away:
                log.info("%s: the MLflow server accepts epochs again", self._tracking_uri)
            self._is_away = False
        except Exception as error:  # a failure of MLflow must not cost a result
            if not self._is_away:
                log.warning(
                    "%s: the MLflow server does not accept epochs (%s). Training continues; the "
                    "epochs will appear when the record of the cell is imported.",
                    self._tracking_uri,
                    first_line(error),
                )
            self._is_away, self._experiment = True, None
        now = time.monotonic()
        self._next_attempt = now + _PAUSE * (now - started)

    def _send(self, status: str | None) -> None:
        """Send new epochs; the first time and after a failure, send all epochs in new runs."""
        if self._experiment is None:
            experiment = MlflowExperiment(self._tracking_uri, self._experiment_name)
            experiment.delete({self._tags["record"]})
            self._runs, self._sent, self._experiment = {}, {}, experiment
        now = time.time_ns() // 1_000_000
        for seed, history in self._histories.items():
            if seed not in self._runs:
                name = f"seed {seed}, {run_name(self._cell)}"
                self._runs[seed] = self._experiment.create(name, self._tags)
                self._experiment.log(self._runs[seed], params=cell_params(self._cell))
            epochs = pd.DataFrame(history[self._sent.get(seed, 0) :], columns=HISTORY.names)
            if len(epochs):
                times = pd.Series(now, index=epochs["epoch"].unique())
                self._experiment.log(self._runs[seed], curve_points(epochs, times))
                self._sent[seed] = len(history)
            if status:
                self._experiment.client.set_terminated(self._runs[seed], status)
