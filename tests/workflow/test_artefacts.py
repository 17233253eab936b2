"""A table or figure asks for what it shows and no more."""

import pytest

from workflow.project import Project, cells_of

pytestmark = pytest.mark.workflow
TABLES = "results/tables/diallo2019"


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A project that has not run yet."""
    return Project(tmp_path_factory.mktemp("artefacts") / "project").create()


def test_a_table_that_counts_questions_needs_the_corpora_only(project):
    jobs = project.jobs(f"{TABLES}/table2.csv")
    assert {rule for rule, _ in jobs} == {"build_corpus", "render_table"}


def test_a_table_needs_the_cells_of_its_data_set(project):
    jobs = project.jobs(f"{TABLES}/table4.csv")
    cells = cells_of(jobs)
    assert {
        "analogy/wikiqa/who/default",
        "similarity/wikiqa/comb/default",
        "bm25/wikiqa/who/default",
    } <= cells
    assert "analogy/wikiqa/comb/p=2" not in cells  # of the curve
    assert not {rule for rule, _ in jobs} & {"write_ledger", "judge_claims", "draw_figure"}


def test_a_table_of_data_that_is_not_configured_needs_no_cell(project):
    assert cells_of(project.jobs(f"{TABLES}/table5.csv")) == set()


def test_a_figure_needs_its_curve(project):
    jobs = project.jobs("results/figures/diallo2019/figure7.svg")
    assert cells_of(jobs) == {"analogy/wikiqa/comb/p=2", "analogy/wikiqa/comb/default"}
