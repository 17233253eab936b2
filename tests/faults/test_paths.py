"""The checkout may lie anywhere."""

import sys

import pytest

from builders.kills import Run
from builders.projects import Project, copy_checkout

pytestmark = pytest.mark.slow

NAME = 'it\'s a "häuschen"\non two lines; $HOME & #1%20'


def run_of(checkout) -> Run:
    folder = checkout / "work"
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(checkout / "Snakefile")]
    command += ["--cores", "2", "--configfile", "config.yaml"]
    return Run(folder, command, folder / "results", checkout)


def test_a_checkout_may_have_any_name_and_move(tmp_path, finished):
    checkout = copy_checkout(tmp_path / NAME)
    Project(checkout / "work").create()
    assert run_of(checkout).finish() == finished.products()
    moved = run_of(checkout.rename(tmp_path / "elsewhere"))
    (moved.folder / "snakemake.out").unlink()
    moved.finish()
    assert "Nothing to be done" in moved.output()
