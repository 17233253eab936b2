"""The checkout may lie anywhere."""

import subprocess
import sys

import pytest

from workflow.project import Project, clean_environment, copy_checkout

pytestmark = pytest.mark.slow

NAME = 'it\'s a "häuschen"\non two lines; $HOME & #1%20'


def test_a_checkout_may_have_any_name_and_move(tmp_path, finished):
    checkout = copy_checkout(tmp_path / NAME)
    project = Project(checkout / "work").create()
    arguments = ["--cores", "2", "--configfile", "config.yaml"]
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", "--snakefile", checkout / "Snakefile", *arguments],
        cwd=project.folder,
        env=clean_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    assert project.products() == finished.products()

    moved = checkout.rename(tmp_path / "elsewhere")
    again = subprocess.run(
        [sys.executable, "-m", "snakemake", "--snakefile", moved / "Snakefile", *arguments],
        cwd=moved / "work",
        env=clean_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert "Nothing to be done" in again.stdout, again.stdout
