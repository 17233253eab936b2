"""Only what depends on a change runs again."""

import pytest

from workflow.project import MODELS, TRAINING, cells_of

pytestmark = pytest.mark.workflow

REPORTING = {"write_ledger", "judge_claims", "render_table", "draw_figure", "import_to_mlflow"}


@pytest.fixture
def changed(finished, tmp_path):
    """A function that copies the finished project with changes and returns the jobs left to do."""

    def jobs(**changes):
        project = finished.copy_to(tmp_path / "project")
        project.configure(**changes)
        return project.jobs()

    return jobs


def test_a_finished_run_has_nothing_to_do(finished, tmp_path):
    project = finished.copy_to(tmp_path / "project")
    assert "Nothing to be done" in project.run().stdout


def test_a_changed_seed_keeps_corpora_and_vectors(changed):
    jobs = changed(seeds=[0, 7])
    rules = {rule for rule, _ in jobs}
    assert {"choose_prototypes", "train_encoder"} <= rules
    assert not rules & {"build_corpus", "select_vectors", "fetch_source"}


def test_a_changed_dropout_runs_the_trained_models_again(changed):
    jobs = changed(training={**TRAINING, "dropout": 0.25})
    trained = {"analogy", "similarity", "tam"}
    assert {cell.split("/")[0].split("+")[0] for cell in cells_of(jobs)} == trained
    assert {rule for rule, _ in jobs} == {"train_encoder", "choose_setting", *REPORTING}


def test_a_changed_setting_runs_only_itself_and_what_is_chosen(changed):
    jobs = changed(
        selection={
            "models": ["analogy"],
            "settings": {"hinge": None, "no_dropout": {"dropout": 0.1}},
        }
    )
    assert {cell.split("/")[0] for cell in cells_of(jobs)} == {
        "analogy+no_dropout",
        "analogy+chosen",
    }


def test_another_p_of_the_curve_trains_only_that_p(changed):
    jobs = changed(prototypes={"p": 3, "curve": [1, 3]})
    assert cells_of(jobs) == {"analogy/wikiqa/comb/p1"}


def test_another_title_trains_nothing(changed):
    jobs = changed(models=MODELS | {"analogy": {"title": "Renamed"}})
    assert {rule for rule, _ in jobs} <= REPORTING


def test_another_device_trains_nothing(changed):
    assert changed(device="cpu") == []


def test_a_further_seed_trains_no_finished_seed_again(finished, tmp_path):
    project = finished.copy_to(tmp_path / "project")
    project.configure(seeds=3)
    done = project.run("results/runs/similarity/wikiqa/who/p3/scores.parquet")
    assert done.returncode == 0, done.stdout
    assert "similarity wikiqa who p3 seed 0: resumed after epoch 2" in done.stdout
    assert "similarity wikiqa who p3 seed 2: epoch 1," in done.stdout
    assert "similarity wikiqa who p3 seed 0: epoch" not in done.stdout
