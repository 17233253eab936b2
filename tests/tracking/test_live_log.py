"""Epochs on an MLflow server while a cell trains, on a fake clock and a fake experiment."""

import subprocess
import sys
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analogyqa.errors import AnalogyQAError
from analogyqa.tracking import live, live_log
from builders.projects import clean_environment
from builders.tracking import CELL, NAME, epochs_of


class Server:
    """A fake server, on which a request takes `cost` seconds.

    An outage makes it forget its runs.
    """

    def __init__(self) -> None:
        self.time, self.cost, self.fault, self.requests = 100.0, 0.0, None, 0
        self.points: dict[str, list[int]] = {}
        self.status: dict[str, str] = {}

    def opened(self, *_):
        """Replace the constructor of an experiment."""
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

    def create(self, name, tags):
        self._answer()
        self.points[name] = []
        return name

    def log(self, run_id, metrics=(), params=None):
        self._answer()
        self.points[run_id] += [point.step for point in metrics if point.key == "epoch/loss"]

    @property
    def client(self):
        return SimpleNamespace(set_terminated=self.status.__setitem__)


@pytest.fixture
def server(monkeypatch) -> Server:
    server = Server()
    monkeypatch.setattr(live, "MlflowExperiment", server.opened)
    monkeypatch.setattr(live.time, "monotonic", lambda: server.time)
    for variable in live._WAITING:
        monkeypatch.setenv(variable, "0")
    return server


def open_live_log(tracking_uri: str | None = "http://server"):
    return live_log(tracking_uri, "results", CELL, "paper")


@pytest.mark.parametrize("tracking_uri", [None, "sqlite:///results/mlflow.db"])
def test_nothing_is_logged_live_into_a_file(server, tracking_uri):
    with open_live_log(tracking_uri) as log:
        log(epochs_of(0, 1))
    assert server.requests == 0


@given(lengths=st.lists(st.integers(1, 30), min_size=1), faulty=st.sets(st.integers(0, 30)))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_each_epoch_is_shown_once_whenever_the_server_fails(server, lengths, faulty):
    with open_live_log() as log:
        for number, length in enumerate(sorted(lengths)):
            server.fault = OSError("away") if number in faulty else None
            log(epochs_of(0, length))
            if number not in faulty:
                assert server.points[f"seed 0, {NAME}"] == list(range(1, length + 1))
        server.fault = None
    assert server.points[f"seed 0, {NAME}"] == list(range(1, max(lengths) + 1))
    assert server.status[f"seed 0, {NAME}"] == "FINISHED"


def test_a_training_run_that_fails_is_shown_as_failed(server):
    with pytest.raises(AnalogyQAError), open_live_log() as log:
        log(epochs_of(0, 1))
        raise AnalogyQAError("diverged")
    assert set(server.status.values()) == {"FAILED"}


def test_an_outage_costs_one_warning(server, caplog):
    with open_live_log() as log:
        for epoch in range(1, 21):
            server.fault = OSError("gone\nand more") if epoch % 10 > 2 else None
            log(epochs_of(0, epoch))
        server.fault = None
    warnings = [entry.getMessage() for entry in caplog.records if entry.levelname == "WARNING"]
    assert len(warnings) == 2
    assert "http://server: the MLflow server does not accept epochs (gone)." in warnings[0]


@pytest.mark.parametrize("fault", [None, OSError("timeout")])
def test_slow_attempts_take_at_most_a_twentieth_of_the_time(server, fault):
    server.cost, begin = 3.0, server.time
    history = epochs_of(0, 1000)
    with open_live_log() as log:
        for epoch in range(1, 1001):
            server.time += 1.0
            server.fault = fault if epoch > 1 else None
            log(history[: epoch * len(history) // 1000])
    spent = server.requests * server.cost
    assert spent <= (server.time - begin) / 20 + 6 * server.cost
    assert server.requests > 10


def test_a_job_without_a_server_does_not_load_mlflow():
    code = """
import sys; from analogyqa.cells import Cell; from analogyqa.tracking import live_log
with live_log("sqlite:///m.db", "results", Cell("s", "d", "all"), "paper"):
    sys.exit("mlflow" in sys.modules)"""
    subprocess.run([sys.executable, "-c", code], env=clean_environment(), check=True)
