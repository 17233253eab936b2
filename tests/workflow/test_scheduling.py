"""When Snakemake looks for jobs to start."""

import re

import pytest

from workflow.project import FEW, Project

pytestmark = pytest.mark.workflow


@pytest.mark.slow
def test_jobs_to_start_are_looked_for_when_one_ends_and_not_by_the_clock(tmp_path):
    project = Project(tmp_path).create(**FEW)
    done = project.run("--verbose")
    assert done.returncode == 0, done.stdout
    (jobs,) = re.findall(r"(\d+) of \1 steps", done.stdout)
    assert 0 < done.stdout.count("Ready jobs:") <= int(jobs)
