"""Calls in several processes: their results, reports, logs and errors."""

import logging
import os

import pytest

from analogyqa.errors import AnalogyQAError
from analogyqa.runs.train import side_by_side

log = logging.getLogger("analogyqa.of_a_call")


def describe(number, report):
    """Report and log the number; return it with the process."""
    report(number)
    log.info("call %d", number)
    return number, os.getpid()


def fail(number, report):
    report(number)
    raise AnalogyQAError(f"file {number}: broken")


def meet(pipe, mode, report):
    """Return once the other call has opened the pipe, too."""
    with open(pipe, mode):
        return mode


@pytest.mark.parametrize("workers", [1, 2])
def test_results_keep_their_order_and_reports_and_logs_arrive(workers, caplog):
    caplog.set_level(logging.INFO)
    reports = []
    results = side_by_side(describe, [(number,) for number in range(3)], workers, reports.append)
    assert [number for number, _ in results] == [0, 1, 2]
    assert sorted(reports) == [0, 1, 2]
    messages = [record.getMessage() for record in caplog.records if record.name == log.name]
    assert sorted(messages) == ["call 0", "call 1", "call 2"]
    assert all((process == os.getpid()) == (workers == 1) for _, process in results)


def test_calls_run_at_the_same_time(tmp_path):
    pipe = str(tmp_path / "pipe")
    os.mkfifo(pipe)  # opening it waits for the other end
    assert side_by_side(meet, [(pipe, "rb"), (pipe, "wb")], 2, print) == ["rb", "wb"]


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_in_a_call_is_raised_in_the_caller(workers):
    with pytest.raises(AnalogyQAError, match="file 3: broken"):
        side_by_side(fail, [(3,), (3,)], workers, lambda value: None)
