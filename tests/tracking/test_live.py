"""Epochs on an MLflow server while a cell trains; a failing server changes no result."""

import json
import logging
from pathlib import Path

import pandas as pd
import pytest

from analogyqa.cells import Cell
from analogyqa.runs.train import train_cell
from analogyqa.schemas import HISTORY, read_table
from analogyqa.tracking import live, live_log
from analogyqa.tracking.records import run_name
from builders.cells import toy_job, trained_system
from builders.kills import project_run
from builders.projects import SMALL_RUN, Project
from builders.servers import free_ports, running_server, sent, silent
from builders.tracking import CURVES, assert_shows_the_records, import_all

CELL = Cell("analogy", "toy", "comb", (("p", "3"),))
NAME = run_name(CELL)
EPOCHS = 6
SYSTEM = trained_system(max_epochs=EPOCHS, patience=EPOCHS)

pytestmark = pytest.mark.slow


@pytest.fixture
def train(cell_files, tmp_path, monkeypatch):
    """Return a function that trains two seeds; it calls `after_epoch(seed, epoch)`."""
    files = {seed: cell_files(seed) for seed in (0, 1)}
    # LiveLog sets these variables for its process, which here is that of all tests.
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_TIMEOUT", "3")
    # An epoch lasts milliseconds here.
    monkeypatch.setattr(live, "_PAUSE", 0)

    def train(results: Path, tracking_uri: str | None, after_epoch=lambda seed, epoch: None):
        with live_log(tracking_uri, results, CELL, "paper") as log:

            def on_epoch(history):
                log(history)
                after_epoch(*history[-1][:2])

            folders = results / "checkpoints", results / "runs" / CELL.path
            train_cell(toy_job(SYSTEM, files, cell=CELL), "cpu", *folders, on_epoch=on_epoch)

    return train


def warnings_of(caplog) -> list[str]:
    return [entry.getMessage() for entry in caplog.records
            if entry.name == live.__name__ and entry.levelno >= logging.WARNING]  # fmt: skip


def test_epochs_are_shown_while_the_cell_trains(train, server, tmp_path, caplog):
    def check_epoch(seed, epoch):
        (child,) = server.runs(f"seed {seed}, {NAME}")
        assert child.info.status == "RUNNING"
        assert child.data.params["system"] == "analogy"
        for curve in CURVES:
            points = server.points(child, f"epoch/{curve}")
            assert [step for step, _ in points] == list(range(1, epoch + 1))
        checked.append((seed, epoch))

    checked = []
    train(tmp_path / "results", server.address, check_epoch)
    assert checked == [(seed, epoch) for seed in (0, 1) for epoch in range(1, EPOCHS + 1)]
    assert {run.info.status for run in server.runs()} == {"FINISHED"}
    assert import_all(tmp_path / "results", server.address) == 1
    assert_shows_the_records(server.address, tmp_path / "results")
    assert import_all(tmp_path / "results", server.address) == 0
    assert warnings_of(caplog) == []


@pytest.mark.parametrize("restart", [(0, 4), pytest.param((1, 2), marks=pytest.mark.draw), None])
def test_a_server_killed_in_the_middle_loses_nothing(train, server, tmp_path, caplog, restart):
    def disturb(seed, epoch):
        if (seed, epoch) == (0, 2):
            server.kill()
        elif (seed, epoch) == restart:
            server.start()
        elif restart and (seed, epoch) == (1, EPOCHS):
            for number in (0, 1):
                (child,) = server.runs(f"seed {number}, {NAME}")
                assert len(server.points(child, "epoch/loss")) == EPOCHS

    caplog.set_level(logging.INFO)
    train(tmp_path / "results", server.address, disturb)
    (warning,) = warnings_of(caplog)
    assert f"{server.address}: the MLflow server does not accept epochs (" in warning
    assert ("accepts epochs again" in caplog.text) == (restart is not None)
    if restart is None:
        server.start()
    import_all(tmp_path / "results", server.address)
    assert_shows_the_records(server.address, tmp_path / "results")


FAULTS = {
    "never there": None,
    "never answers": silent,
    "error 500": sent(b"broken", 500),
    "error 429": sent(b"{}", 429),
    "another web page": sent(b"<html>hello</html>"),
    "wrong json": sent(b"[]"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_results_are_the_same_whatever_the_server_does(train, tmp_path, monkeypatch, caplog, fault):
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_TIMEOUT", "1")
    monkeypatch.setattr(live, "_PAUSE", 20)
    train(tmp_path / "without", None)
    with running_server() as server:
        server.otherwise = FAULTS[fault]
        address = server.url if FAULTS[fault] else f"http://127.0.0.1:{free_ports(1)[0]}"
        train(tmp_path / "with", address)
    assert len(warnings_of(caplog)) == 1

    runs = [tmp_path / name / "runs" / CELL.path for name in ("without", "with")]
    for name in ("scores.parquet", "metrics.parquet"):
        assert (runs[0] / name).read_bytes() == (runs[1] / name).read_bytes()
    hashes = [json.loads((run / "run.json").read_text())["content_hash"] for run in runs]
    assert hashes[0] == hashes[1]
    histories = [read_table(run / "history.parquet", HISTORY) for run in runs]
    curves = [history[history["measure"].isin(CURVES)] for history in histories]
    assert len(curves[0]) == 2 * EPOCHS * len(CURVES)
    pd.testing.assert_frame_equal(*curves, check_exact=True)


SEED = "seed 0, analogy comb wikiqa"


def test_the_import_completes_a_workflow_whose_server_was_killed(tmp_path, server):
    project = Project(tmp_path / "project").create()
    values = {**SMALL_RUN, "systems": {**SMALL_RUN["systems"], "similarity": None}}
    values["sensitivity"] = {**SMALL_RUN["sensitivity"], "systems": ["analogy"]}
    training = {"sentence_dim": 8, "max_epochs": 300, "patience": 300, "batch_size": 4}
    values |= {"seeds": 1, "training": training, "selection": {"systems": []}}
    project.configure(**values, tracking_uri=server.address)
    run = project_run(project, "results/runs/analogy/wikiqa/comb/default/scores.parquet")
    process = run.start()
    run.wait_for(lambda: any(server.points(seed, "epoch/dev_mrr") for seed in server.runs(SEED)))
    server.kill()
    assert process.wait() == 0, run.output()
    output, log = run.output(), run.training_log()
    assert "epoch 300," in log
    assert output.count("does not accept epochs") == log.count("does not accept epochs") == 1
    assert "View run" not in output

    server.start()
    (cut_off,) = server.runs(SEED)
    assert 1 <= len(server.points(cut_off, "epoch/loss")) < 300
    completed = project.run()
    assert completed.returncode == 0, completed.stdout
    assert_shows_the_records(server.address, project.results)
    (imported,) = server.runs(SEED)
    assert len(server.points(imported, "epoch/loss")) == 300
    elsewhere = ("--config", "tracking_uri=http://127.0.0.1:9")
    assert project.jobs(*elsewhere) == [("import_to_mlflow", "results/mlflow.imported.json")]
