"""The hours of a run are summed from the records of its jobs."""

import json
from pathlib import Path

import pandas as pd
import pytest

from builders.projects import load_script

PATH = Path(__file__).parents[1] / "benchmarks" / "paper.py"


@pytest.fixture
def paper(monkeypatch):
    monkeypatch.syspath_prepend(str(PATH.parent))
    return load_script(PATH)


def write_run(results, system, device, epochs, job=None):
    """Write a run with the seconds of each seed's epochs and of its job, None if not recorded."""
    run = results / "runs" / system / "wikiqa" / "comb" / "default"
    run.mkdir(parents=True)
    (run / "run.json").write_text(json.dumps({"device": device}))
    rows = [
        (seed, epoch, "seconds", value)
        for seed, values in epochs.items()
        for epoch, value in enumerate(values, 1)
    ]
    rows.append((0, 1, "dev_mrr", 0.5))
    frame = pd.DataFrame(rows, columns=["seed", "epoch", "measure", "value"])
    frame.to_parquet(run / "history.parquet")
    if job is not None:
        folder = results / "benchmarks" / "train_encoder" / system
        folder.mkdir(parents=True)
        (folder / "wikiqa-comb-default.jsonl").write_text(json.dumps({"s": job}))


def test_a_training_job_counts_with_its_seconds_or_those_of_all_its_epochs(paper, tmp_path):
    write_run(tmp_path, "whole", "cpu", {0: [1.0, 2.0], 1: [3.5]}, job=10.0)
    write_run(tmp_path, "more-seeds", "cpu", {0: [4.0], 1: [4.5]}, job=5.0)
    write_run(tmp_path, "without-file", "cuda", {0: [2.5]})
    seconds = paper.training_seconds(tmp_path)
    assert {device: sorted(of) for device, of in seconds.items()} == {
        "cpu": [8.5, 10.0],
        "cuda": [2.5],
    }


def test_epochs_that_jobs_share_count_once(paper, tmp_path):
    write_run(tmp_path, "analogy", "cpu", {0: [1.25, 2.25]})
    write_run(tmp_path, "same-weights", "cpu", {0: [1.25, 2.25]})
    assert sum(paper.training_seconds(tmp_path)["cpu"]) == 3.5
