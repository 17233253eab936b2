"""A killed training resumes, and nothing shows that it was killed."""

import shutil
import signal

import psutil
import pytest

pytestmark = pytest.mark.workflow

SCORES = "results/runs/analogy/wikiqa/comb/p3/scores.parquet"


@pytest.fixture
def long_project(project):
    project.configure(
        seeds=1,
        training={"sentence_dim": 8, "max_epochs": 60, "patience": 60, "batch_size": 4},
    )
    return project


def kill_training_after(project, epoch: int) -> str:
    """Start Snakemake, SIGKILL the training job once it reports `epoch`, return all output."""
    running = project.start(SCORES)
    output = []
    for line in running.stdout:
        output.append(line)
        if f"epoch {epoch}," in line:
            jobs = [
                process
                for process in psutil.Process(running.pid).children(recursive=True)
                if any("train_encoder" in part for part in process.cmdline())
            ]
            assert jobs, "the training job is gone before it could be killed"
            for process in jobs:
                process.send_signal(signal.SIGKILL)
    assert running.wait() != 0
    return "".join(output)


def test_sigkill_then_the_same_command_gives_identical_scores(long_project, tmp_path):
    undisturbed = long_project.copy_to(tmp_path / "undisturbed")
    assert undisturbed.run(SCORES).returncode == 0

    output = kill_training_after(long_project, epoch=3)
    assert "epoch 60," not in output
    assert not (long_project.folder / SCORES).exists()
    again = long_project.run(SCORES)
    assert again.returncode == 0, again.stdout
    assert "resumed after epoch" in again.stdout
    assert "epoch 1," not in again.stdout

    expected = (undisturbed.folder / SCORES).read_bytes()
    assert (long_project.folder / SCORES).read_bytes() == expected


def test_seeds_side_by_side_give_the_scores_of_one_after_the_other(finished, tmp_path):
    project = finished.copy_to(tmp_path / "project")
    shutil.rmtree(project.results / "checkpoints")
    before = (project.folder / SCORES).read_bytes()
    done = project.run(SCORES, "--force", "--set-threads", "train_encoder=2")
    assert done.returncode == 0, done.stdout
    assert len(list((project.results / "checkpoints").iterdir())) == 2
    assert (project.folder / SCORES).read_bytes() == before
    log = (project.results / "logs/train_encoder/analogy/wikiqa-comb-p3.log").read_text()
    assert "seed 0: epoch 1," in log
    assert "seed 1: epoch 1," in log
