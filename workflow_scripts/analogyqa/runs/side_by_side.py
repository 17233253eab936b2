"""Do independent calls in processes of their own."""

import logging
from collections.abc import Callable, Sequence
from logging.handlers import QueueHandler
from multiprocessing import get_context
from queue import Queue
from threading import Thread
from typing import Any

Report = Callable[[Any], None]


def side_by_side(
    function: Callable[..., Any], calls: Sequence[tuple], workers: int, on_report: Report
) -> list:
    """Return function(*call, report) of each call, in their order.

    What a call reports and logs reaches `on_report` and the log of this process while it goes on.
    With one worker or call, all of it happens in this process.

    Args:
        function: of a module. Its results and arguments are pickled.
        calls: the arguments of each, without `report`.
        workers: the most calls at a time. Each has a process with one thread for its arithmetic.
        on_report: called with each reported value, by one thread at a time.

    Raises what a call raises; the others are then ended.
    """
    if min(workers, len(calls)) <= 1:
        return [function(*call, on_report) for call in calls]
    from joblib import Parallel, delayed  # a tenth of a second, in each of many short jobs

    # A manager that is spawned would run the script of the job again.
    with get_context("fork").Manager() as manager:
        queue = manager.Queue()
        reader = Thread(target=_read, args=(queue, on_report))
        reader.start()
        try:
            pool = Parallel(n_jobs=workers, backend="loky", inner_max_num_threads=1, batch_size=1)
            return pool(delayed(_call)(function, call, queue) for call in calls)
        finally:
            queue.put(None)
            reader.join()


def _call(function: Callable[..., Any], call: tuple, queue: Queue) -> Any:
    handlers = [QueueHandler(queue)]
    logging.basicConfig(level=logging.INFO, format="%(message)s", handlers=handlers, force=True)
    return function(*call, queue.put)


def _read(queue: Queue, on_report: Report) -> None:
    for item in iter(queue.get, None):
        if isinstance(item, logging.LogRecord):
            logging.getLogger(item.name).handle(item)
        else:
            on_report(item)
