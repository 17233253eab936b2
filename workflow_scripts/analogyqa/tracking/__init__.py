"""MLflow, a view of the run records that can be rebuilt from them at any time."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from analogyqa.cells import Cell
from analogyqa.settings.tracking import database_path

PROXIED = "mlflow-artifacts:/"
_ENVIRONMENT = {
    # The artifacts of MLflow's own default experiment. By default they are in the working folder,
    # whose name MLflow inserts into an SQL statement without escaping it.
    "_MLFLOW_SERVER_ARTIFACT_ROOT": PROXIED,
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "DO_NOT_TRACK": "true",
    "MLFLOW_LOGGING_LEVEL": "WARNING",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
    "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
}


def set_defaults(variables: Mapping[str, str]) -> None:
    """Set environment variables that the user has not set."""
    for name, value in variables.items():
        os.environ.setdefault(name, value)


set_defaults(_ENVIRONMENT)  # MLflow reads them when it is imported


@contextmanager
def live_log(
    tracking_uri: str | None, results: str | Path, cell: Cell, hyperparameters: str
) -> Iterator[Callable[[list[list]], None]]:
    """Yield a function that shows the epochs of a seed on a server while a cell trains.

    It does nothing without a server, and then MLflow is not imported.
    """
    if tracking_uri is None or database_path(tracking_uri):
        yield lambda history: None
    else:
        from analogyqa.tracking.live import LiveLog

        with LiveLog(tracking_uri, results, cell, hyperparameters) as live:
            yield live.log
