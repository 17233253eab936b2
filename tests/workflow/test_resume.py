"""A killed training run resumes, and nothing shows that it was killed."""

import signal

import psutil
import pytest
from tenacity import retry, stop_after_delay, wait_fixed

pytestmark = pytest.mark.workflow

SCORES = "results/runs/analogy/wikiqa/comb/default/scores.parquet"
LOG = "results/logs/train_encoder/analogy/wikiqa-comb-default.log"


@pytest.fixture
def long_project(project):
    project.configure(
        seeds=1,
        training={"sentence_dim": 8, "max_epochs": 60, "patience": 60, "batch_size": 4},
    )
    return project


def kill_training_after(project, epoch: int) -> str:
    """Start Snakemake, SIGKILL the training job once its log reports `epoch`, return the log."""
    running = project.start(SCORES)
    log = project.folder / LOG

    @retry(stop=stop_after_delay(120), wait=wait_fixed(0.02), reraise=True)
    def reported() -> None:
        assert log.exists()
        assert f"epoch {epoch}," in log.read_text()

    reported()
    jobs = [
        process
        for process in psutil.Process(running.pid).children(recursive=True)
        if any("train_encoder" in part for part in process.cmdline())
    ]
    assert jobs, "the training job is gone before it could be killed"
    for process in jobs:
        process.send_signal(signal.SIGKILL)
    running.communicate()
    assert running.returncode != 0
    return log.read_text()


@pytest.mark.draw
def test_the_same_command_after_sigkill_gives_identical_scores(long_project, tmp_path):
    undisturbed = long_project.copy_to(tmp_path / "undisturbed")
    assert undisturbed.run(SCORES).returncode == 0

    assert "epoch 60," not in kill_training_after(long_project, epoch=3)
    assert not (long_project.folder / SCORES).exists()
    again = long_project.run(SCORES)
    assert again.returncode == 0, again.stdout
    log = (long_project.folder / LOG).read_text()
    assert "resumed after epoch" in log
    assert "epoch 1," not in log
    assert "epoch" not in again.stdout
    assert "train_encoder analogy wikiqa comb: " in again.stdout

    expected = (undisturbed.folder / SCORES).read_bytes()
    assert (long_project.folder / SCORES).read_bytes() == expected
