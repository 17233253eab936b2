"""The open choices: each is a cell of its own, run on demand and only once."""

import pytest

from analogyqa.measures import RANKED
from builders.projects import CHOICES, SENSITIVITY, cells_of, read_csv

pytestmark = pytest.mark.workflow

TABLE = "tables/diallo2019/sensitivity.csv"
FILES = [
    f"{kind}s/diallo2019/sensitivity.{suffix}"
    for kind, suffixes in {"table": ("csv", "md"), "figure": ("png", "svg")}.items()
    for suffix in suffixes
]
SYSTEMS = ("analogy", "similarity")
# The loss with the margin of analogy, which is not that of similarity.
HINGE = {"analogy/wikiqa/who/loss=hinge", "similarity/wikiqa/who/loss=hinge@margin=0.1"}


@pytest.fixture(scope="module")
def varied(finished, tmp_path_factory):
    """A project whose pipeline and sensitivity table have run; copy it before changing it."""
    project = finished.copy_to(tmp_path_factory.mktemp("varied") / "project")
    assert cells_of(project.jobs("sensitivity")) == HINGE | {
        f"{system}/wikiqa/who/drop_all_correct=train+dev+test" for system in SYSTEMS
    }
    done = project.run("sensitivity")
    assert done.returncode == 0, done.stdout
    return project


@pytest.fixture
def changed(varied, tmp_path):
    """A function that changes an override in a copy and returns the cells left to run."""

    def cells(**choices):
        project = varied.copy_to(tmp_path / "project")
        project.configure(sensitivity=SENSITIVITY | {"choices": CHOICES | choices})
        return cells_of(project.jobs("sensitivity"))

    return cells


def rows_of(project):
    return read_csv(project.results / TABLE)


def test_every_variation_has_a_row_for_each_system_and_measure(varied):
    assert all((varied.results / name).stat().st_size > 0 for name in FILES)
    rows = rows_of(varied)
    keys = {(row["choice"], row["value"], row["system"], row["measure"]) for row in rows}
    assert len(keys) == len(rows) == 4 * 2 * len(RANKED)
    assert {row["choice"] for row in rows} == {"paper", "loss", "all_correct_questions", "vectors"}


def test_a_second_run_has_nothing_to_do(varied):
    assert varied.jobs("sensitivity") == []


def test_the_tables_of_the_papers_need_no_variation(finished):
    assert cells_of(finished.jobs()) == set()
    assert not any((finished.results / name).exists() for name in FILES)


def test_a_changed_value_runs_only_its_own_cells_again(changed):
    hinge = {"loss": "hinge", "margin": 0.3}
    others = dict.fromkeys(CHOICES["loss"])
    assert changed(loss={"hinge": hinge, **others}) == {
        f"{system}/wikiqa/who/loss=hinge@margin=0.3" for system in SYSTEMS
    }
