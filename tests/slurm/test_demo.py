"""What the README says about a cluster, typed on one: the whole demo through Slurm."""

import subprocess
import sys
from pathlib import Path

import pytest

from workflow.project import REPOSITORY, clean_environment, copy_demo, products_of

pytestmark = pytest.mark.slurm


@pytest.mark.timeout(3600)  # without `make demo` before it runs the demo twice
def test_the_demo_through_slurm_gives_the_tables_of_one_machine(cluster, report_count, tmp_path):
    here = REPOSITORY / "results" / "demo"
    if not (here / "mlflow.imported.json").exists():  # `make demo` has not run in this checkout
        alone = copy_demo(tmp_path / "alone")
        subprocess.run(
            [sys.executable, "-m", "snakemake", "--cores", "2", "--quiet", "all"],
            cwd=alone,
            env=clean_environment(),
            check=True,
        )
        here = alone / "results" / "demo"

    checkout = copy_demo(tmp_path / "analogyqa")
    path = f"{Path(sys.executable).parent}:{cluster.environment['PATH']}"
    environment = {**clean_environment(), **cluster.environment, "PATH": path}
    environment.pop("ANALOGYQA_MIRROR", None)
    done = subprocess.run(
        "snakemake --cores 8 --profile slurm",
        shell=True,
        cwd=checkout,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-5000:]

    jobs = cluster.jobs()
    assert {job["JobState"] for job in jobs} == {"COMPLETED"}
    trainings = [job for job in jobs if "train_encoder" in job["Comment"]]
    assert trainings
    assert all(job["TresPerJob"] == "gres:gpu:1" for job in trainings)
    steps = done.stdout.count("Finished jobid")
    report_count(f"demo through Slurm: {steps} steps in {len(jobs)} Slurm jobs, all COMPLETED")

    expected, found = products_of(here), products_of(checkout / "results" / "demo")
    assert len(expected) > 30
    assert found.keys() == expected.keys()
    assert [name for name in expected if found[name] != expected[name]] == []
