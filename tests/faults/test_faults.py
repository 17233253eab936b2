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

from builders.kills import (
    LOCKED,
    Run,
    assert_identical,
    kill_and_restart,
    project_run,
    tiny_run,
)
from builders.projects import CHOICES, SMALL_RUN, Project, copy_checkout

pytestmark = pytest.mark.slow

KILLS = 4
TWO_DAYS = 2 * 24 * 3600.0


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> Project:
    project = Project(tmp_path_factory.mktemp("undisturbed")).create(**SMALL_RUN)
    project_run(project).finish()
    return project


@pytest.fixture(scope="module")
def expected(undisturbed) -> dict[str, bytes]:
    return undisturbed.products()


@pytest.fixture
def run(tmp_path) -> Run:
    return tiny_run(tmp_path / "project")


def assert_refused(run: Run, *messages: str) -> None:
    """Run; it must fail with these messages on the terminal, and no traceback."""
    assert run.start().wait() != 0
    for message in messages:
        assert message in run.output()
    assert "Traceback" not in run.output()


def test_kills_at_random_moments_do_not_change_the_products(run, expected, report_count):
    hit = kill_and_restart(run, random.Random(4), KILLS, longest=15)
    assert hit
    assert_identical(run, expected)
    report_count(f"kill -9: {hit.total()} kills {dict(hit)}, {len(expected)} products identical")


@pytest.mark.draw
def test_a_killed_training_run_resumes_and_gives_identical_scores(project, tmp_path):
    scores = "results/runs/analogy/wikiqa/comb/default/scores.parquet"
    training = {"sentence_dim": 8, "max_epochs": 60, "patience": 60, "batch_size": 4}
    project.configure(seeds=1, training=training)
    undisturbed = project_run(project.copy_to(tmp_path / "undisturbed"), scores)
    undisturbed.finish()

    run = project_run(project, scores)
    process = run.start()
    run.wait_for(lambda: "epoch 3," in run.training_log())
    for job in run.jobs("train_encoder"):
        job.kill()
    assert process.wait() != 0
    assert "epoch 60," not in run.training_log()
    assert not (run.folder / scores).exists()
    (run.folder / "snakemake.out").unlink()
    run.finish()
    assert "resumed after epoch" in run.training_log()
    assert "epoch 1," not in run.training_log()
    assert "epoch" not in run.output()
    assert "train_encoder analogy wikiqa comb: " in run.output()
    assert (run.folder / scores).read_bytes() == (undisturbed.folder / scores).read_bytes()


VARIED = "wikiqa@drop_all_correct=train+dev+test"
# A file to damage, and a target whose job reads it before any other of these files.
CONSUMER_OF = {
    f"corpora/{VARIED}.parquet": f"quadruples/{VARIED}/comb/p2/seed0/dev.parquet",
    "vectors/wikiqa/crawl.npy": "runs/other/wikiqa/comb/default/scores.parquet",
    "prototypes/wikiqa/comb/seed1.parquet": "quadruples/wikiqa/comb/p1/seed0/dev.parquet",
    "quadruples/wikiqa/comb/p2/seed0/train-1-per-pair.parquet": (
        "runs/similarity/wikiqa/comb/p=2/scores.parquet"
    ),
    "runs/analogy/wikiqa/comb/default/history.parquet": "selection/analogy/wikiqa.json",
    "runs/analogy/wikiqa/comb/default/metrics.parquet": "figures/diallo2019/figure6.png",
    "runs/similarity/wikiqa/comb/default/run.json": "tables/diallo2019/sensitivity.csv",
    "selection/similarity/wikiqa.json": (
        "runs/similarity/wikiqa/comb/hyperparameters=tuned/scores.parquet"
    ),
}
# A second corpus, other vectors and a second selection, so that there are such files.
OTHER = {"title": "Other", "encoder": "mean", "vectors": "crawl", "ranker": "cosine"}
LARGER_RUN = {
    **SMALL_RUN,
    "systems": {**SMALL_RUN["systems"], "other": OTHER},
    "selection": {"systems": ["analogy", "similarity"], "hyperparameters": {"hinge": None}},
    "sensitivity": {
        **SMALL_RUN["sensitivity"],
        "systems": ["similarity"],
        "choices": {**CHOICES, "loss": None},
    },
}


def test_every_damaged_intermediate_file_is_named_and_made_again(undisturbed, tmp_path, expected):
    project = undisturbed.copy_to(tmp_path / "project")
    project.configure(**LARGER_RUN)
    run = project_run(
        project, *(f"results/{name}" for name in CONSUMER_OF.values()), "--keep-going"
    )
    run.finish()
    for name, target in CONSUMER_OF.items():
        (project.results / target).unlink()
        damaged = project.results / name
        content, times = damaged.read_bytes(), damaged.stat()
        damaged.write_bytes(content[: len(content) // 2])
        # A new date would make Snakemake rebuild the file without reading it.
        os.utime(damaged, ns=(times.st_atime_ns, times.st_mtime_ns))
    (project.folder / "snakemake.out").unlink()
    assert run.start().wait() != 0
    errors = [line for line in run.output().splitlines() if line.startswith("Error: ")]
    for name in CONSUMER_OF:
        (error,) = (line for line in errors if f"results/{name}" in line)
        assert "Delete" in error
        (project.results / name).unlink()
    assert len(errors) == len(CONSUMER_OF)
    assert "Traceback" not in run.output()
    run.finish()
    for path in project.results.glob("*/diallo2019/sensitivity.*"):  # not in the undisturbed run
        path.unlink()
    project.configure(**SMALL_RUN)
    project_run(project).finish()
    assert_identical(run, expected)


@pytest.fixture
def small_disk(run):
    """Mount a small file system as the results folder of the run."""
    if os.geteuid() != 0 or not shutil.which("mount"):
        pytest.skip("only root can mount a small file system")
    run.results.mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=20m", "tmpfs", run.results], check=True)
    yield
    subprocess.run(["umount", "--lazy", run.results], check=True)


NO_SPACE = re.compile(
    r"^Error: output_dir: 'results' cannot be written: the disk of .* Free some", re.M
)


@pytest.mark.parametrize("moment", ["from the start", "while jobs run"])
def test_a_full_disk_is_one_message_and_the_run_completes_once_there_is_space(
    run, small_disk, expected, moment
):
    filler = run.results / "filler"
    if moment == "from the start":
        _fill(filler)
        assert_refused(run, "output_dir: 'results' cannot be written: the disk of")
    else:
        process = run.start()
        run.wait_for(lambda: "steps (" in run.output())
        _fill(filler)
        assert process.wait() != 0
        assert re.search(NO_SPACE, run.output()), run.output()
        assert "Traceback" not in run.output()
    filler.unlink()
    run.finish()
    assert_identical(run, expected)


def _fill(path: Path) -> None:
    """Write to a file until the disk is full."""
    with pytest.raises(OSError, match="No space left"), open(path, "wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))


def test_files_of_a_clock_that_was_ahead_are_reported_and_can_be_redated(run, expected):
    process = run.start()
    run.wait_for(lambda: "steps (5" in run.output())  # fifty-odd per cent
    for running in [*psutil.Process(process.pid).children(recursive=True), process]:
        running.kill()
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


def test_a_second_snakemake_is_refused_and_does_no_harm(run, expected):
    first = run.start()
    run.wait_for(lambda: "steps (" in run.output())
    assert run.start().wait() != 0
    assert LOCKED in run.output()
    assert "--unlock" in run.output()
    assert first.wait() == 0, run.output()
    assert_identical(run, expected)


def _move_times(folder: Path, seconds: float) -> None:
    """Date the files in `folder` as if they had been written on a clock that is off by `seconds`.

    A clock that is false for the processes themselves (libfaketime) also falsifies their waits.
    """
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            moved = path.stat().st_mtime + seconds
            os.utime(path, (moved, moved))


NAME = 'it\'s a "häuschen"\non two lines; $HOME & #1%20'


def test_a_checkout_may_have_any_name_and_move_and_gives_the_same_bytes(tmp_path, finished):
    def run_in(checkout: Path) -> Run:
        project = Project(checkout / "work")
        command = project.command("--snakefile", str(checkout / "Snakefile"))
        return Run(project.folder, command, project.results, checkout)

    checkout = copy_checkout(tmp_path / NAME)
    Project(checkout / "work").create()
    products = run_in(checkout).finish()
    assert "tables/diallo2019/table4.md" in products
    assert products == finished.products()
    moved = run_in(checkout.rename(tmp_path / "elsewhere"))
    (moved.folder / "snakemake.out").unlink()
    moved.finish()
    assert "Nothing to be done" in moved.output()
