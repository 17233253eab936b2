"""The jobs of a dry run, and their estimated cost."""

import re
from pathlib import Path

import pytest

from analogyqa import planning
from analogyqa.cells import Cell
from analogyqa.errors import AnalogyQAError
from analogyqa.evaluation.summary import RECORDED
from analogyqa.files import write_json
from analogyqa.planning import (
    Cost,
    Job,
    TimeLeft,
    Timings,
    cluster_jobs,
    print_plan,
    read_listing,
)

ROOT = Path(__file__).parents[1]

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
    output: out/runs/a/toy/who/default/scores.parquet
    benchmark: benchmarks/train/e.jsonl
    threads: 4
    resources: tmpdir=/tmp, runtime=120, gpu=1, mem_mb=4000
Job stats:
"""


def test_a_listing_has_every_job_with_its_needs():
    jobs = read_listing(LISTING)
    fetch, *scoring, train = jobs
    assert fetch == Job("fetch_source", None, ["data/a.txt", "data/a.txt.source.json"])
    assert [job.group for job in scoring] == [("scoring", 1), ("scoring", 1), ("scoring", 2)]
    output, benchmark = "out/runs/a/toy/who/default/scores.parquet", "benchmarks/train/e.jsonl"
    assert train == Job("train_encoder", None, [output], benchmark, 120, 1)
    # A group is one job of the cluster, and a local step none.
    assert cluster_jobs(jobs) == {"scoring": 2, "train_encoder": 1}


def test_a_listing_with_nothing_to_do_has_no_job(capsys):
    print_plan(read_listing("Nothing to be done (all requested files are present)."), None)
    assert capsys.readouterr().out.startswith("Nothing to be done")


def test_a_dry_run_that_failed_is_named():
    with pytest.raises(AnalogyQAError, match="the dry run failed"):
        read_listing("WorkflowError: no such profile\n")


REFERENCE = """\
rule,data,seconds,cpu_seconds,bytes,seeds,machine
train_encoder,toy/who,100,200,1000,2,one core of ours
train_encoder,toy/all,700,400,3000,2,one core of ours
score_candidates,toy/who,10,20,500,2,one core of ours
fetch_source,,0,0,9000,1,one core of ours
find_entities,,10,20,500,1,one core of ours
"""


@pytest.fixture
def timings(tmp_path):
    """The timings of jobs whose cells have three seeds."""
    reference = tmp_path / "timings.csv"
    reference.write_text(REFERENCE)
    return Timings(str(tmp_path / "runs" / "out"), lambda cell: 3, reference)


def job(tmp_path, cell: str, rule: str = "train_encoder", **changes) -> Job:
    folder = tmp_path / "runs" / "out"  # `runs` may also be above the output folder
    outputs = [str(folder / "runs" / cell / "default" / name) for name in ("a", "b")]
    benchmark = str(folder / "benchmarks" / rule / f"{cell}.jsonl")
    return Job(rule, None, outputs, benchmark, **{"minutes": 60, "gpus": 1} | changes)


def finish(job: Job, benchmark: str = '{"s": 3600, "cpu_time": 7200}\n') -> Job:
    """Write the outputs of a job, 100 bytes each, and its benchmark."""
    for file in (job.benchmark, *job.outputs):
        Path(file).parent.mkdir(parents=True, exist_ok=True)
        Path(file).write_bytes(bytes(100))
    Path(job.benchmark).write_text(benchmark)
    return job


def test_the_cost_is_that_of_the_same_job(tmp_path, timings):
    assert timings.cost(finish(job(tmp_path, "a/toy/who"))) == Cost(2.0, 1.0, 200, "measured")


def test_the_cost_grows_with_the_seeds_that_were_added_since_the_job_ran(tmp_path, timings):
    train = job(tmp_path, "analogy/toy/who")
    train.outputs.append(f"{tmp_path}/runs/out/runs/analogy/toy/who/default/run.json")
    record = dict.fromkeys(RECORDED) | {"cell": Cell("analogy", "toy", "who").record()}
    write_json(finish(train).outputs[-1], record | {"seeds": [0]})
    assert timings.cost(train)[:2] == (6.0, 3.0)  # three seeds are configured


def test_without_a_run_the_cost_is_that_of_the_reference_scaled_by_seeds(tmp_path, timings):
    train, score = job(tmp_path, "a/toy/who"), job(tmp_path, "a/toy/who", "score_candidates")
    *estimates, basis = timings.cost(train)
    assert (pytest.approx([300 / 3600, 150 / 3600, 1500]), "reference") == (estimates, basis)
    # Without training, the number of seeds hardly matters.
    assert timings.cost(score) == Cost(20 / 3600, 10 / 3600, 500, "reference")
    elsewhere = job(tmp_path, "a/toy/when", gpus=0)  # the mean over all data of the rule
    assert timings.cost(elsewhere) == Cost(450 / 3600, 0, 3000, "rough")
    assert timings.cost(job(tmp_path, "a/toy/who", "new_rule")).basis == "unknown"
    # A reference without data is not on the same data.
    entities = [f"{tmp_path}/runs/out/entities/toy.parquet"]
    expected = Cost(20 / 3600, 0, 500, "rough")
    assert timings.cost(Job("find_entities", None, entities, "none.jsonl")) == expected


@pytest.mark.parametrize("text", ["", "{", '{"s": null, "cpu_time": 1}\n', "[]\n"])
def test_a_damaged_benchmark_file_counts_as_none(tmp_path, timings, text):
    assert timings.cost(finish(job(tmp_path, "a/toy/who"), text)).basis == "reference"


@pytest.mark.parametrize(
    ("output", "data"),
    [
        ("runs/a/toy/who/dropout=0@p=3/run.json", "toy/who"),
        ("corpora/toy@fold=1of5.parquet", "toy"),
        ("vectors/toy/some@dim=3.npy", "toy"),
        ("corpora/toy-1.0@train_share=0.5.json", "toy-1.0"),
        ("entities/toy@drop_all_correct=dev.parquet", "toy"),
        ("rewritten/toy@fold=1of5/entity.parquet", "toy"),
        ("costs/toy/who.json", "toy"),
        ("quadruples/toy@fold=1of5/who/p3/seed0/dev.parquet", "toy"),
        ("tables/small/table1.csv", ""),
        ("../resources/corpora/toy.txt", ""),
    ],
)
def test_the_data_of_a_job(tmp_path, timings, output, data):
    assert timings.job_data(Job("any", None, [f"{tmp_path}/runs/out/{output}"])) == data


def test_the_time_left_follows_from_the_jobs_that_have_finished(tmp_path, timings):
    counts = {"find_entities": 1, "score_candidates": 4, "train_encoder": 2}
    left = TimeLeft(counts, 0, tmp_path / "timings.csv")
    for job in range(2):
        left.start(job, "score_candidates", 0)
    assert left.seconds(10) is None
    for job in range(2):
        left.finish(job, 20)
    # The reference says 10 seconds, so all takes twice as long: most of what is left, 1,600 seconds
    # of training, is guessed.
    assert left.seconds(20) is None
    left.start(2, "train_encoder", 20)
    left.start(3, "train_encoder", 20)
    left.finish(2, 80)
    assert left.running("train_encoder") == 1
    # Two jobs run at a time. Two of 20 seconds are left, and one of 10 by a reference of which
    # 2 * 10 + 400 seconds took 100 here; the other training job has had its 60 seconds.
    assert left.seconds(80) == pytest.approx((2 * 20 + 10 * 100 / 420) / 2)
    left.fail(3)
    assert left.running("train_encoder") == 0
    assert left.seconds(80) > (60 + 2 * 20) / 2


def test_every_rule_of_the_repository_has_a_reference():
    known, _ = planning.read_reference(planning.REFERENCE)
    rules = "\n".join(path.read_text("utf-8") for path in (ROOT / "rules").glob("*.smk"))
    timed = re.findall(r"(?s)\nrule (\w+):(?:(?!\nrule ).)*?\n    resources:", rules)
    assert "train_encoder" in timed
    assert set(timed) <= {rule for (rule, _), timing in known.items() if timing.cpu_seconds > 0}


@pytest.mark.parametrize("width", [50, 80])
def test_names_of_rules_are_whole(capsys, timings, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    names = ["build_training_quadruples", "build_evaluation_quadruples"]
    print_plan([Job(name, None, minutes=30, gpus=1) for name in names * 20], timings)
    rows = capsys.readouterr().out.partition("total")[0].splitlines()
    assert max(map(len, rows)) <= width
    firsts = [row.split()[0] for row in rows[3:] if row.strip()]
    assert "".join(firsts) == "".join(names) and (len(firsts) == 2) == (width == 80)


def test_the_plan_states_the_basis_of_its_estimates(capsys, timings, monkeypatch):
    monkeypatch.setattr(timings, "_output_dir", "out")
    jobs = read_listing(LISTING)
    print_plan(jobs, timings)
    printed = capsys.readouterr().out
    lines = {line.split()[0]: line.split() for line in printed.splitlines() if line.strip()}
    assert lines["fetch_source"] == ["fetch_source", "1", "local"]
    # The reference has two seeds, the run of the listing three.
    assert lines["train_encoder"][1:] == ["1", "1", "0.08", "0.04", "1", "reference"]
    assert lines["score_candidates"][1:] == ["3", "in", "scoring", "0.02", "3", "rough"]
    assert lines["total"] == ["total", "5", "3", "0.10", "0.04"]
    assert "one core of ours" in printed
