"""A run that is killed, starved, damaged or misled gives the tables of an undisturbed one."""

import os
import random
import re
import shutil
import subprocess
import time
from pathlib import Path

import psutil
import pytest

from faults.harness import LOCKED, Run, kill_and_restart, run_of, tiny_run
from workflow.project import FEW, Project, clean_environment, products_of

pytestmark = pytest.mark.slow

KILLS = 8
TWO_DAYS = 2 * 24 * 3600.0

INTERMEDIATE = (
    "corpora/wikiqa.parquet",
    "vectors/fasttext.npy",
    "prototypes/wikiqa/comb/seed0.parquet",
    "quadruples/wikiqa/comb/p3/seed1/train-1-per-pair.parquet",
    "runs/analogy/wikiqa/comb/p3/history.parquet",
    "runs/analogy/wikiqa/comb/p3/metrics.parquet",
    "runs/analogy/wikiqa/comb/p3/run.json",
    "selection/analogy/wikiqa.json",
)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> Project:
    project = Project(tmp_path_factory.mktemp("undisturbed")).create(**FEW)
    run_of(project).finish()
    return project


@pytest.fixture(scope="module")
def expected(undisturbed) -> dict[str, bytes]:
    return undisturbed.products()


@pytest.fixture
def run(tmp_path) -> Run:
    return tiny_run(tmp_path / "project")


def assert_identical(run: Run, expected: dict[str, bytes]) -> None:
    found = products_of(run.results)
    assert found.keys() == expected.keys()
    assert [name for name in expected if found[name] != expected[name]] == []


@pytest.mark.draw
def test_kills_at_random_moments_do_not_show(run, expected, report_count):
    hit = kill_and_restart(run, random.Random(4), KILLS, longest=15)
    assert_identical(run, expected)
    report_count(f"kill -9: {hit.total()} kills {dict(hit)}, {len(expected)} products identical")


@pytest.mark.parametrize("name", INTERMEDIATE)
def test_a_damaged_intermediate_file_is_named_and_made_again(undisturbed, tmp_path, expected, name):
    project = undisturbed.copy_to(tmp_path / "project")
    damaged = project.results / name
    content = damaged.read_bytes()
    damaged.write_bytes(content[: len(content) // 2])
    run = run_of(project)
    status = run.start().wait()
    if status != 0:  # else the change was noticed, and the file made again, before it was read
        assert f"results/{name}" in run.output()
        assert "Delete" in run.output()
        assert "Traceback" not in run.output()
        damaged.unlink()
        run.finish()
    assert_identical(run, expected)


@pytest.fixture
def small_disk(run):
    """Mount a file system of a given size as the results folder of the run."""
    if os.geteuid() != 0 or not shutil.which("mount"):
        pytest.skip("only root can mount a small file system")
    run.results.mkdir(exist_ok=True)

    def mount(options: str) -> None:
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", run.results], check=True)

    mount("size=20m")
    yield lambda options: mount(f"remount,{options}")
    subprocess.run(["umount", "--lazy", run.results], check=True)


NO_ROOM = re.compile(
    r"^Error: output_dir: 'results' cannot be written: the disk of .* Make room", re.M
)


@pytest.mark.parametrize(
    "moment", ["from the start", pytest.param("while jobs run", marks=pytest.mark.draw)]
)
def test_a_full_disk_is_one_sentence_and_costs_nothing_once_there_is_room(
    run, small_disk, expected, moment
):
    filler = run.results / "filler"
    if moment == "from the start":
        _fill(filler)
        assert run.start().wait() != 0
        assert "output_dir: 'results' cannot be written: the disk of" in run.output()
    else:
        process = run.start()
        _when(run, process, "steps (")
        _fill(filler)
        assert process.wait() != 0
        assert re.search(NO_ROOM, run.output()), run.output()
    assert "Traceback" not in run.output()
    filler.unlink()
    run.finish()
    assert_identical(run, expected)


def _fill(path: Path) -> None:
    """Write to a file until the disk is full."""
    with pytest.raises(OSError, match="No space left"), open(path, "wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))


def test_a_read_only_disk_is_named_and_costs_nothing_once_it_is_writable(run, small_disk, expected):
    kill_and_restart(run, random.Random(1), 1, longest=15)
    small_disk("ro")
    assert run.start().wait() != 0
    assert "output_dir: 'results' cannot be written" in run.output()
    assert "Traceback" not in run.output()
    small_disk("rw")
    run.finish()
    assert_identical(run, expected)


def test_a_clock_that_was_ahead_is_named_and_its_files_can_be_brought_back(run, expected):
    process = run.start()
    _when(run, process, "steps (5")  # fifty-odd per cent
    for each in [*psutil.Process(process.pid).children(recursive=True), process]:
        each.kill()
    process.wait()
    _move_times(run.folder, +TWO_DAYS)
    run.unlock()
    assert run.start().wait() != 0
    assert "clock skew" in run.output()
    now = time.time()
    for path in run.folder.rglob("*"):
        if path.stat().st_mtime > now:
            os.utime(path, (now, now))
    run.finish()
    assert_identical(run, expected)


def test_a_clock_that_is_behind_is_named_and_costs_nothing(run, expected):
    _move_times(run.folder, +TWO_DAYS)  # what lies there is of the future
    assert run.start().wait() != 0
    assert "clock skew" in run.output()
    _move_times(run.folder, -TWO_DAYS)
    run.finish()
    assert_identical(run, expected)


def test_a_second_snakemake_is_told_of_the_first_and_does_no_harm(run, expected):
    first = run.start()
    _when(run, first, "steps (")
    second = Run(run.folder, run.command, run.results)
    done = subprocess.run(
        second.command, cwd=run.folder, env=clean_environment(), capture_output=True, text=True
    )
    assert done.returncode != 0
    assert LOCKED in done.stdout + done.stderr
    assert "--unlock" in done.stdout + done.stderr
    assert first.wait() == 0, run.output()
    assert_identical(run, expected)


def _when(run: Run, process: subprocess.Popen, text: str) -> None:
    """Return once Snakemake has printed `text`."""
    while text not in run.output():
        try:
            process.wait(timeout=0.05)
        except subprocess.TimeoutExpired:
            continue
        raise AssertionError(f"ended without {text!r}: {run.output()}")


def _move_times(folder: Path, seconds: float) -> None:
    """Date the files in `folder` as if they had been written on a clock that is off by `seconds`.

    A clock that is false for the processes themselves (libfaketime) also falsifies their waits.
    """
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            moved = path.stat().st_mtime + seconds
            os.utime(path, (moved, moved))
