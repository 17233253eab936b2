"""Run independent calls in parallel processes."""

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
    """Return the results of function(*call, report) for all calls, in their order.

    Reports and log messages of a running call reach `on_report` and the log of this process at
    once. With a single worker or call, everything runs in this process.

    Args:
        function: A function of a module, whose arguments and result can be pickled.
        calls: The arguments of each call, without `report`.
        workers: The maximum number of parallel calls. Each is a process that computes with one
            thread.
        on_report: Called with each reported value, by one thread at a time.

    Raises the exception of the first call that fails; the other calls are then ended.
    """
    if min(workers, len(calls)) <= 1:
        return [function(*call, on_report) for call in calls]
    from joblib import Parallel, delayed  # not at the top: it takes 0.1 s in many short jobs

    # A spawned manager would run the script of the job again.
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
