"""Jobs for a cluster: every rule states what it needs, and the papers need few enough jobs."""

import subprocess

import pytest

from analogyqa.planning import cluster_jobs, read_listing
from builders.projects import REPOSITORY, SNAKEMAKE, clean_environment

pytestmark = [pytest.mark.workflow, pytest.mark.draw]


@pytest.fixture(scope="module")
def paper_jobs(tmp_path_factory):
    """The jobs of the paper run, whose files would be downloaded."""
    command = [*SNAKEMAKE, "--configfile", str(REPOSITORY / "config.yaml"), "--cores", "8"]
    command += ["--profile", str(REPOSITORY / "slurm"), "--dry-run"]
    context = {"cwd": tmp_path_factory.mktemp("paper"), "env": clean_environment()}
    done = subprocess.run(command, **context, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return read_listing(done.stdout)


def test_a_job_is_local_or_has_resources_and_a_benchmark(paper_jobs):
    local = {
        *("all", "fetch_source", "choose_hyperparameters", "join_relations", "keep_weights"),
        *("find_decisions", "explain_examples", "write_ledger", "judge_claims", "render_table"),
        *("draw_figure", "write_cross_validation", "write_pairs", "draw_forest"),
        *("write_report", "import_to_mlflow"),
    }
    for job in paper_jobs:
        assert (job.minutes is None) == (job.rule in local), job.rule
        assert job.rule in local or job.benchmark, job.rule


def test_only_training_jobs_request_a_gpu(paper_jobs):
    rules = {job.rule for job in paper_jobs if job.gpus}
    assert rules <= {"train_encoder", "train_infersent", "measure_costs"}
    assert {job.gpus for job in paper_jobs if job.rule == "train_encoder"} == {1}


def test_the_papers_need_fewer_than_450_cluster_jobs(paper_jobs):
    assert 50 < cluster_jobs(paper_jobs).total() < 450
