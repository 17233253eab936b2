"""Small jobs that share a process do what each does alone."""

import re

import pytest

from workflow.project import TRAINING, Project

pytestmark = pytest.mark.workflow
ALONE = {"choose_prototypes", "build_evaluation_quadruples", "build_training_quadruples"}
ALONE |= {"train_encoder", "score_candidates"}


def test_jobs_that_share_a_process_give_the_same_bytes_and_have_their_own_logs(finished, tmp_path):
    together = Project(tmp_path / "together").create(cells_per_job=3)
    done = together.run()
    assert done.returncode == 0, done.stdout
    rules = set(re.findall(r"\(Rule: (\w+)\)", done.stdout))
    assert not rules & ALONE and "run_together_0" in rules
    assert "\ntrain_encoder analogy wikiqa who: " in done.stdout
    assert together.products() == finished.products()
    assert logs_of(together) == logs_of(finished)
    assert "Nothing to be done" in together.run().stdout


def logs_of(project):
    folder = project.results / "logs"
    return sorted(path.relative_to(folder) for path in folder.rglob("*.log"))


def test_a_changed_setting_runs_the_jobs_again_whose_cells_it_concerns(finished, tmp_path):
    project = Project(tmp_path / "together").create(cells_per_job=100)
    assert project.run().returncode == 0
    project.configure(cells_per_job=100, training={**TRAINING, "dropout": 0.25})
    files = {file for rule, file in project.jobs() if rule.startswith("run_together")}
    assert "results/runs/analogy/wikiqa/who/default/scores.parquet" in files
    assert not [file for file in files if "/quadruples/" in file]
