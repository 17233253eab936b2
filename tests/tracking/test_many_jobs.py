"""Many jobs that end at the same moment bring their records into one store."""

import multiprocessing
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from analogyqa.files import write_text
from analogyqa.plan import Cell
from tracking.records import (
    CELL,
    PAPER,
    assert_shows_the_records,
    import_cells,
    uri,
    write_cell,
)

JOBS = 32

pytestmark = pytest.mark.slow


@pytest.fixture
def results(tmp_path) -> Path:
    """An output folder with the records of 32 trained cells and a table."""
    results = tmp_path / "results"
    for number in range(JOBS):
        write_cell(results, CELL._replace(overrides=(("p", str(number)),)), rr=number / 64)
    write_text(results / "tables" / PAPER / "table4.csv", "a,b\n")
    return results


def import_records(results: Path, records: list[Path]) -> int:
    """Import as a job does; return the number of new runs."""
    return import_cells(results, [Cell.from_path(record.parent) for record in records])


def import_at_once(results: Path, jobs: list[list[Path]]) -> list:
    """Import the records of each job in a process of its own, all released at one moment.

    Returns what each import returned or raised.
    """
    context = multiprocessing.get_context("fork")
    barrier, answers = context.Barrier(len(jobs)), context.SimpleQueue()

    def job(records: list[Path]) -> None:
        barrier.wait()
        try:
            answers.put(import_records(results, records))
        except BaseException as error:
            answers.put(repr(error))

    processes = [context.Process(target=job, args=[records]) for records in jobs]
    for process in processes:
        process.start()
    returned = [answers.get() for _ in processes]
    for process in processes:
        process.join()
    return returned


@pytest.fixture
def loaded(tmp_path) -> None:
    """Import something elsewhere: the processes split off later need not load MLflow each."""
    elsewhere = tmp_path / "elsewhere"
    write_cell(elsewhere, CELL)
    import_records(elsewhere, list(elsewhere.rglob("run.json")))


def delete_store(results: Path) -> None:
    for path in results.glob("mlflow*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def dump(results: Path) -> list[str]:
    """Everything in the store, to the last row of MLflow's own tables."""
    with closing(sqlite3.connect(results / "mlflow.db")) as connection:
        return list(connection.iterdump())


@pytest.mark.usefixtures("loaded")
@pytest.mark.parametrize("count", [pytest.param(1, marks=pytest.mark.draw), 10])
def test_jobs_that_end_at_the_same_moment_lose_nothing(results, report_count, count):
    records = sorted(results.rglob("run.json"))
    jobs = [[record] for record in records]
    for _ in range(count):
        delete_store(results)
        returned = import_at_once(results, jobs)
        assert [answer for answer in returned if isinstance(answer, str)] == []
        assert sum(returned) == JOBS + 1
        assert_shows_the_records(uri(results), results)
    report_count(f"{JOBS} jobs x {count} stores: 0 errors, each run once")

    before = dump(results)
    assert import_at_once(results, jobs) == [0] * JOBS
    assert import_at_once(results, [records]) == [0]
    assert dump(results) == before
