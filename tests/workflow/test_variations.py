"""The open choices: each is a cell of its own, run on demand and only once."""

import csv

import pytest

from workflow.project import AXES, SENSITIVITY, cells_of

pytestmark = pytest.mark.workflow

FILES = ("sensitivity.csv", "sensitivity.md", "sensitivity.png", "sensitivity.svg")
DROPPED = "wikiqa+all_correct_questions.dropped"


@pytest.fixture(scope="module")
def varied(finished, tmp_path_factory):
    """A project whose pipeline and sensitivity table have run; copy it before changing it."""
    project = finished.copy_to(tmp_path_factory.mktemp("varied") / "project")
    assert cells_of(project.jobs("sensitivity")) == {
        f"{model}{setting}/{dataset}/who/p3"
        for model in ("analogy", "similarity")
        for setting, dataset in (("+loss.hinge", "wikiqa"), ("", DROPPED))
    }
    done = project.run("sensitivity")
    assert done.returncode == 0, done.stdout
    return project


@pytest.fixture
def changed(varied, tmp_path):
    """A function that changes an axis in a copy and returns the cells left to run."""

    def cells(**axes):
        project = varied.copy_to(tmp_path / "project")
        project.configure(sensitivity=SENSITIVITY | {"axes": AXES | axes})
        return cells_of(project.jobs("sensitivity"))

    return cells


def rows_of(project):
    with open(project.results / "sensitivity.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_the_table_comes_in_four_formats(varied):
    for name in FILES:
        assert (varied.results / name).stat().st_size > 0


def test_every_variation_has_a_row_for_each_system_and_metric(varied):
    rows = rows_of(varied)
    found = {(row["axis"], row["value"], row["model"], row["metric"]) for row in rows}
    assert len(found) == len(rows) == 4 * 2 * 2
    assert {row["axis"] for row in rows} == {"paper", "loss", "all_correct_questions", "vectors"}


def test_a_variation_that_cannot_be_had_is_not_run_and_says_why(varied):
    for row in rows_of(varied):
        if row["axis"] == "vectors":
            assert (row["mean"], row["verdict"]) == ("", "not run")
            assert "drop in vectors/enwiki-105m-300d.word2vec.vec.gz" in row["reason"]
        else:
            assert row["mean"]


def test_a_second_run_has_nothing_to_do(varied):
    assert varied.jobs("sensitivity") == []


def test_the_tables_of_the_papers_do_not_ask_for_it(finished):
    assert cells_of(finished.jobs()) == set()
    assert not any((finished.results / name).exists() for name in FILES)


def test_a_changed_value_runs_only_its_own_cells_again(changed):
    hinge = {"training": {"loss": "hinge", "margin": 0.3}}
    assert changed(loss={"hinge": hinge, "workshop": None, "workshop_distance": None}) == {
        "analogy+loss.hinge/wikiqa/who/p3",
        "similarity+loss.hinge/wikiqa/who/p3",
    }


def test_another_value_of_an_axis_runs_only_itself(changed):
    loss = {"hinge": {"training": {"loss": "hinge"}}, "workshop": {"training": {"loss": "lwda"}}}
    # The similarity baseline has one side of the parallelogram: its loss is the paper's.
    assert changed(loss=loss | {"workshop_distance": None}) == {
        "analogy+loss.workshop/wikiqa/who/p3",
    }


def test_a_value_that_is_taken_away_runs_nothing(changed):
    assert changed(loss=None) == set()
