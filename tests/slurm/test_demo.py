"""The whole demo through Slurm, by the command of the README."""

import subprocess
import sys
from pathlib import Path

import pytest

from builders.kills import assert_identical, demo_run
from builders.projects import REPOSITORY, clean_environment, products_of

pytestmark = pytest.mark.slurm


@pytest.mark.timeout(3600)  # without `make demo` before it runs the demo twice
def test_the_demo_through_slurm_gives_the_tables_of_one_machine(cluster, report_count, tmp_path):
    finished = REPOSITORY / "results" / "demo"
    is_complete = (
        finished / "mlflow.imported.json"
    ).exists()  # `make demo` has run in this checkout
    expected = products_of(finished) if is_complete else demo_run(tmp_path / "alone").finish()
    assert len(expected) > 30

    run = demo_run(tmp_path / "analogyqa")
    path = f"{Path(sys.executable).parent}:{cluster.environment['PATH']}"
    environment = {**clean_environment(run.folder), **cluster.environment, "PATH": path}
    environment.pop("ANALOGYQA_MIRROR", None)
    done = subprocess.run(
        "snakemake --cores 8 --profile slurm",
        shell=True,
        cwd=run.folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-5000:]

    jobs = cluster.jobs()
    assert {job["JobState"] for job in jobs} == {"COMPLETED"}
    training_jobs = [job for job in jobs if "train_encoder" in job["Comment"]]
    assert {job["TresPerJob"] for job in training_jobs} == {"gres:gpu:1"}
    steps = done.stdout.count("Finished jobid")
    report_count(f"demo through Slurm: {steps} steps in {len(jobs)} Slurm jobs, all COMPLETED")
    assert_identical(run, expected)
