"""The display of a run on a terminal, for `snakemake --logger analogyqa`.

It is the one of snakemake-logger-plugin-rich, but shows only the rules that run, how many jobs are
left, and an estimate of the time. Snakemake finds this package by its name.
"""

import time
from logging import LogRecord

from rich.progress import BarColumn, ProgressColumn, SpinnerColumn, Task, TextColumn
from rich.table import Column
from rich.text import Text
from snakemake_interface_logger_plugins.common import LogEvent
from snakemake_logger_plugin_rich import LogHandler as RichHandler

_ALL = "Total Progress"  # the row of all jobs


class LogHandler(RichHandler):
    """Shows what runs; messages, warnings and the logs of failed jobs are printed above it."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._end: float | None = None  # when the last job will probably finish
        spinner, name = SpinnerColumn(finished_text="✓"), TextColumn("{task.description}")
        self.progress.columns = (spinner, name, BarColumn(None), _StateColumn(self))

    def emit(self, record: LogRecord) -> None:
        super().emit(record)
        try:
            self._follow(record)
        except Exception:  # a fault of the display must not stop the run
            self.handleError(record)

    def _follow(self, record: LogRecord) -> None:
        # Every process of Snakemake imports this package, but few of them show something.
        from analogyqa.planning import TimeLeft

        event, now = getattr(record, "event", None), time.monotonic()
        if event == LogEvent.RUN_INFO:
            counts = {rule: count for rule, count in record.stats.items() if rule != "total"}
            self._time_left = TimeLeft(counts, now)
        elif event == LogEvent.JOB_INFO:
            self._time_left.start(record.jobid, record.rule_name, now)
        elif event == LogEvent.JOB_ERROR:
            self._time_left.fail(record.jobid)
        elif event == LogEvent.JOB_FINISHED:
            self._time_left.finish(record.job_id, now)
            seconds = self._time_left.seconds(now)
            self._end = None if seconds is None else now + seconds
        for rule, row in self.event_handler.progress_display.rule_tasks.items():
            running = self._time_left.running(rule)
            self.progress.update(row, running=running, visible=running > 0 or rule == _ALL)

    def state(self, task: Task) -> str:
        """Return how many jobs of a row are left, and how many run or how long all will take."""
        left = f"{task.remaining:.0f} left"
        if self.event_handler.progress_display.rule_tasks[_ALL] != task.id:
            return f"{left}, {task.fields.get('running', 0)} running"
        if self._end is None or not task.remaining:
            return left
        minutes = round((self._end - time.monotonic()) / 60)
        if minutes >= 100:
            return f"{left}, about {minutes / 60:.0f} h"
        return f"{left}, about {minutes} min" if minutes > 0 else f"{left}, about a minute"


class _StateColumn(ProgressColumn):
    def __init__(self, handler: LogHandler) -> None:
        super().__init__(Column(no_wrap=True))
        self._handler = handler

    def render(self, task: Task) -> Text:
        return Text(self._handler.state(task))
