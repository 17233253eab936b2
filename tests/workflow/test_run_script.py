"""A script of a rule can be run alone, with the arguments that Snakemake would give it."""

import subprocess
import sys

import pytest

from builders.projects import REPOSITORY, clean_environment

pytestmark = [pytest.mark.workflow, pytest.mark.draw]

SCRIPT = REPOSITORY / "workflow_scripts" / "run_script.py"
JOBS = {
    "runs/fasttext/wikiqa/who/default/scores.parquet":
        "score_candidates system=fasttext dataset=wikiqa subset=who overrides=default",
    "figures/diallo2019/figure6.png": "draw_figure paper=diallo2019 artefact=figure6",
}  # fmt: skip


def test_a_script_in_foreign_surroundings_makes_the_same_files_as_snakemake(finished, tmp_path):
    project = finished.copy_to(tmp_path / "project")
    settings = project.folder / ".config" / "matplotlib"
    settings.mkdir(parents=True)
    (settings / "matplotlibrc").write_text("text.usetex: True")
    foreign = {"MPLBACKEND": "module://none", "HOME": str(project.folder)}
    for name, arguments in JOBS.items():
        file = project.results / name
        made = file.read_bytes()
        file.unlink()
        command = [sys.executable, SCRIPT, *arguments.split(), "--configfile", "config.yaml"]
        with open("/dev/full", "w") as full:  # a terminal that is gone
            done = subprocess.run(
                command, cwd=project.folder, env=clean_environment() | foreign, stderr=full
            )
        assert done.returncode == 0
        assert file.read_bytes() == made
