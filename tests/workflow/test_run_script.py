"""A script of a rule can be run alone, with the arguments that Snakemake would give it."""

import subprocess
import sys

import pytest

from builders.projects import REPOSITORY, clean_environment

pytestmark = [pytest.mark.workflow, pytest.mark.draw]

COMMAND = [sys.executable, str(REPOSITORY / "workflow_scripts" / "run_script.py")]


def run(project, *arguments):
    command = [*COMMAND, *arguments, "--configfile", "config.yaml"]
    return subprocess.run(
        command, cwd=project.folder, env=clean_environment(), text=True, capture_output=True
    )


def test_a_script_alone_makes_the_same_file_as_snakemake(finished, tmp_path):
    project = finished.copy_to(tmp_path / "project")
    scores = project.results / "runs/fasttext/wikiqa/who/default/scores.parquet"
    made = scores.read_bytes()
    scores.unlink()
    wildcards = ("system=fasttext", "dataset=wikiqa", "subset=who", "overrides=default")
    done = run(project, "score_candidates", *wildcards)
    assert done.returncode == 0, done.stderr
    assert scores.read_bytes() == made


def test_a_job_in_foreign_surroundings_makes_the_same_figure(finished, tmp_path):
    project = finished.copy_to(tmp_path / "project")
    figure = project.results / "figures/diallo2019/figure6.png"
    made = figure.read_bytes()
    figure.unlink()
    foreign = {"MPLBACKEND": "module://none", "HOME": str(project.folder)}
    (project.folder / ".config/matplotlib").mkdir(parents=True)
    (project.folder / ".config/matplotlib/matplotlibrc").write_text("text.usetex: True")
    command = [*COMMAND, "draw_figure", "paper=diallo2019", "number=6"]
    with open("/dev/full", "w") as full:  # a terminal that is gone
        done = subprocess.run(
            [*command, "--configfile", "config.yaml"],
            cwd=project.folder, env=clean_environment() | foreign, stderr=full,
        )  # fmt: skip
    assert done.returncode == 0
    assert figure.read_bytes() == made


def test_an_unknown_rule_is_named(finished):
    done = run(finished, "score_candidate")
    assert done.returncode == 1
    assert "did you mean score_candidates" in done.stderr
