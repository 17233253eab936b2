"""What a dry run's listing says of jobs, and what earlier runs say of their cost."""

import json

import pytest

from analogyqa.errors import AnalogyQAError
from analogyqa.planning import (
    Cost,
    Earlier,
    Job,
    cluster_jobs,
    disk_bytes,
    print_plan,
    read_listing,
)

LISTING = """\
Building DAG of jobs...
Job stats:
job              count
-------------  -------
train_encoder        1

[Sat Nov 21 09:35:04 2026]
rule fetch_source:
    output: data/a.txt (update), data/a.txt.source.json (update)
    jobid: 31
    resources: tmpdir=/tmp
[Sat Nov 21 09:35:04 2026] Group job scoring (jobs in lexicogr. order):

    [Sat Nov 21 09:35:04 2026]
    rule score_candidates:
        input: data/a.txt
        output: runs/a/scores.parquet
        benchmark: results/benchmarks/score_candidates/a.jsonl
        resources: tmpdir=/tmp, disk_mb=<TBD>, mem_mb=2000, runtime=20
    rule score_candidates:
        output: runs/b/scores.parquet
        resources: tmpdir=/tmp, mem_mb=2000, runtime=20
[Sat Nov 21 09:35:04 2026] Group job scoring (jobs in lexicogr. order):

    rule score_candidates:
        output: runs/c/scores.parquet
        resources: tmpdir=/tmp, mem_mb=2000, runtime=20
[Sat Nov 21 09:35:04 2026]
rule train_encoder:
    input: data/a.txt
    output: runs/d/scores.parquet
    benchmark: results/benchmarks/train_encoder/d/e.jsonl
    threads: 4
    resources: tmpdir=/tmp, runtime=120, gpu=1, mem_mb=4000
Job stats:
"""


def benchmark(path, seconds: float, cpu_seconds: float) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"s": seconds, "cpu_time": cpu_seconds}) + "\n")
    return str(path)


def training(path, **changes) -> Job:
    return Job(**{"rule": "train", "group": None, "benchmark": str(path), "minutes": 60} | changes)


def test_a_listing_has_every_job_with_its_needs():
    jobs = read_listing(LISTING)
    fetch, *scoring, train = jobs
    assert fetch == Job("fetch_source", None, ["data/a.txt", "data/a.txt.source.json"])
    assert [job.group for job in scoring] == [("scoring", 1), ("scoring", 1), ("scoring", 2)]
    file = "results/benchmarks/train_encoder/d/e.jsonl"
    assert train == Job("train_encoder", None, ["runs/d/scores.parquet"], file, 4, 120, 1)
    # A group is one job of the cluster, and a local step none.
    assert cluster_jobs(jobs) == {"scoring": 2, "train_encoder": 1}


def test_nothing_to_be_done_is_no_job(capsys):
    print_plan(read_listing("Nothing to be done (all requested files are present)."))
    assert capsys.readouterr().out.startswith("Nothing to be done")


def test_a_dry_run_that_failed_is_named():
    with pytest.raises(AnalogyQAError, match="the dry run failed"):
        read_listing("WorkflowError: no such profile\n")


def test_the_cost_is_that_of_the_same_job_else_of_jobs_alike_else_the_limit(tmp_path):
    folder = tmp_path / "benchmarks" / "train"
    benchmark(folder / "x" / "a.jsonl", seconds=7200, cpu_seconds=3600)
    benchmark(folder / "y" / "b.jsonl", seconds=3600, cpu_seconds=10800)
    same = training(folder / "x" / "a.jsonl", gpus=1)
    alike = training(folder / "x" / "c.jsonl", gpus=1)
    other = training(tmp_path / "benchmarks" / "other" / "d.jsonl", rule="other", threads=2)
    earlier = Earlier([same, alike, other])
    assert earlier.cost(same) == Cost(1.0, 2.0, "measured")
    assert earlier.cost(alike) == Cost(2.0, 1.5, "alike")
    assert earlier.cost(other) == Cost(2.0, 0.0, "limit")


@pytest.mark.parametrize("text", ["", "{", '{"s": 1}\n', '{"s": null, "cpu_time": 1}\n', "[]\n"])
def test_a_damaged_benchmark_file_counts_as_none(tmp_path, text):
    path = tmp_path / "benchmarks" / "train" / "a.jsonl"
    benchmark(path, 1, 1)
    path.write_text(text)
    assert Earlier([training(path)]).cost(training(path)).basis == "limit"


def test_disk_is_what_files_of_the_kind_take(tmp_path):
    (tmp_path / "a.parquet").write_bytes(bytes(100))
    (tmp_path / "b.parquet").write_bytes(bytes(300))
    outputs = [str(tmp_path / name) for name in ("a.parquet", "b.parquet", "c.parquet", "d.json")]
    assert disk_bytes([training("", outputs=outputs)]) == (600, 1)


def test_the_plan_says_where_it_guesses(capsys, tmp_path):
    jobs = read_listing(LISTING)
    jobs[-1].benchmark = benchmark(tmp_path / "benchmarks" / "train_encoder" / "d.jsonl", 3600, 720)
    print_plan(jobs)
    printed = capsys.readouterr().out
    lines = {line.split()[0]: line.split() for line in printed.splitlines() if line.strip()}
    assert lines["fetch_source"] == ["fetch_source", "1", "local"]
    assert lines["train_encoder"][1:] == ["1", "1", "0.20", "1.00", "1", "measured"]
    assert lines["score_candidates"][1:] == ["3", "in", "scoring", "<=", "1.00", "3", "limit"]
    assert lines["total"] == ["total", "5", "3", "<=", "1.20", "<=", "1.00"]
    assert "a guess, no job of score_candidates ran here" in printed
