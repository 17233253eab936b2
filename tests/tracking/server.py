"""An MLflow server on 127.0.0.1 that can be killed and started again on the same store."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import requests
from mlflow import MlflowClient
from mlflow.entities import Run
from urllib3.util import Retry

from analogyqa.tracking.store import initialise
from ports import free_ports
from tracking.records import LIVE, active_runs


def connect(address: str, answer: str = "OK") -> requests.Session:
    """Wait until a server answers, and return a session with it."""
    session = requests.Session()
    retries = Retry(total=None, connect=240, backoff_factor=0.1, backoff_max=0.5)
    session.mount("http://", requests.adapters.HTTPAdapter(max_retries=retries))
    assert session.get(f"{address}/health").text == answer
    return session


class MlflowServer:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (self.port,) = free_ports(1)
        self.address = f"http://127.0.0.1:{self.port}"
        self.store = f"sqlite:///{folder / 'server.db'}"
        self.process: subprocess.Popen | None = None
        initialise(self.store)

    def start(self) -> None:
        """Start the server and return once it answers."""
        command = [sys.executable, "-m", "mlflow", "server", "--workers", "1"]
        command += ["--host", "127.0.0.1", "--port", str(self.port)]
        command += ["--backend-store-uri", self.store, "--registry-store-uri", self.store]
        command += ["--artifacts-destination", str(self.folder / "artifacts")]
        environment = {
            **os.environ,
            "MLFLOW_DISABLE_TELEMETRY": "true",
            "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
        }
        with open(self.folder / "server.log", "a") as log:
            self.process = subprocess.Popen(
                command, env=environment, stdout=log, stderr=log, start_new_session=True
            )
        connect(self.address)

    def kill(self) -> None:
        """Kill the server and its workers by SIGKILL."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process = None

    def runs(self, name: str | None = None) -> list[Run]:
        """Return the runs that the UI shows, including live ones, optionally of one name only."""
        runs = active_runs(self.address) + active_runs(self.address, LIVE)
        return [run for run in runs if name in (None, run.info.run_name)]

    def points(self, run: Run, metric: str) -> list[tuple[int, float]]:
        """Return step and value of each point of a metric."""
        history = MlflowClient(self.address).get_metric_history(run.info.run_id, metric)
        return sorted((point.step, point.value) for point in history)
