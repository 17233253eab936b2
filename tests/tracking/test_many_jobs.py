"""Many jobs that end at the same moment import their records into one store."""

import multiprocessing
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from analogyqa.files import write_text
from analogyqa.plan import Cell
from tracking.records import CELL, PAPER, assert_shows_the_records, import_cells, uri, write_cell

JOBS = 32


def import_at_once(results: Path, jobs: list[list[Cell]]) -> list:
    """Import the cells of each job in a separate process, all at the same moment.

    Returns the result of each import, or the representation of its error.
    """
    context = multiprocessing.get_context("fork")
    barrier, answers = context.Barrier(len(jobs)), context.SimpleQueue()

    def job(cells: list[Cell]) -> None:
        barrier.wait()
        try:
            answers.put(import_cells(results, cells))
        except BaseException as error:
            answers.put(repr(error))

    processes = [context.Process(target=job, args=[cells]) for cells in jobs]
    for process in processes:
        process.start()
    returned = [answers.get() for _ in processes]
    for process in processes:
        process.join()
    return returned


def dump(results: Path) -> list[str]:
    """Return the content of the store as SQL statements."""
    with closing(sqlite3.connect(results / "mlflow.db")) as connection:
        return list(connection.iterdump())


@pytest.mark.slow
def test_jobs_that_end_at_the_same_moment_lose_nothing(tmp_path, report_count):
    results = tmp_path / "results"
    cells = [CELL._replace(overrides=(("p", str(number)),)) for number in range(JOBS)]
    for number, cell in enumerate(cells):
        write_cell(results, cell, rr=number / 64)
    write_text(results / "tables" / PAPER / "table4.csv", "a,b\n")
    # Load MLflow once, instead of in each forked process.
    write_cell(tmp_path / "elsewhere", CELL)
    import_cells(tmp_path / "elsewhere", [CELL])

    jobs = [[cell] for cell in cells]
    returned = import_at_once(results, jobs)
    assert [answer for answer in returned if isinstance(answer, str)] == []
    assert sum(returned) == JOBS + 1
    assert_shows_the_records(uri(results), results)
    report_count(f"{JOBS} jobs on a new store: 0 errors, each run once")

    before = dump(results)
    assert import_at_once(results, [*jobs, cells]) == [0] * (JOBS + 1)
    assert dump(results) == before
