"""The display of a run on a terminal."""

import logging
from types import SimpleNamespace

import pytest
from snakemake_interface_logger_plugins.common import LogEvent
from snakemake_logger_plugin_analogyqa import LogHandler

COUNTS = {"score_candidates": 3, "write_report": 1, "total": 4}


@pytest.fixture
def handler():
    names = ("stdout", "dryrun", "printshellcmds", "show_failed_logs", "verbose")
    handler = LogHandler(SimpleNamespace(**dict.fromkeys(names, False)), None)
    yield handler
    handler.close()


def rows(handler: LogHandler) -> dict[str, str]:
    """Return the state of each row that is shown, by its name."""
    shown = [task for task in handler.progress.tasks if task.visible]
    return {task.description: handler.state(task) for task in shown}


def test_the_display_shows_what_runs_how_many_jobs_are_left_and_the_time(handler, capsys, tmp_path):
    def emit(event: LogEvent | None, message: str = "", **facts) -> None:
        record = {"event": event, "msg": message, "levelno": logging.INFO}
        handler.emit(logging.makeLogRecord(record | facts))

    emit(LogEvent.RUN_INFO, stats=COUNTS)
    (tmp_path / "1.log").write_text("why it failed\n")
    for job in (1, 2):
        log = [str(tmp_path / f"{job}.log")]
        emit(LogEvent.JOB_INFO, jobid=job, rule_name="score_candidates", log=log)
    running = "score candidates"
    assert rows(handler) == {"Total Progress": "4 left", running: "3 left, 2 running"}
    emit(LogEvent.JOB_FINISHED, job_id=2)
    expected = {"Total Progress": "3 left, about a minute", running: "2 left, 1 running"}
    assert rows(handler) == expected
    emit(LogEvent.JOB_ERROR, jobid=1)
    emit(None, "a message of Snakemake")
    assert [*rows(handler)] == ["Total Progress"]
    printed = capsys.readouterr().err
    assert "why it failed" in printed and "a message of Snakemake" in printed
