"""A table that looks into a trained system is made from its checkpoint."""

import pytest

from builders.projects import SYSTEMS, VECTORS, WORDS, Project

pytestmark = pytest.mark.workflow
TABLE = "results/tables/hyperqa/table8.md"


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A project that has made the table, with one of its two data sets."""
    project = Project(tmp_path_factory.mktemp("views") / "project").create(
        papers=["hyperqa"],
        systems={**SYSTEMS, "hyperqa": {"training": {"max_epochs": 2}}},
        vectors={**VECTORS, "glove": WORDS},
        **dict.fromkeys(["selection", "sensitivity", "subsets", "question_types"]),
    )
    done = project.run(TABLE)
    assert done.returncode == 0, done.stdout
    return project


def test_substituted_questions_are_marked_in_the_table(project):
    page = (project.folder / TABLE).read_text()
    assert "TrecQA: not run: data set trecqa is not configured." in page
    assert 'Not in these data: "founder twitter" of WikiQA' in page
    assert page.count("| Q |") == page.count("| A |") == 1


def test_a_missing_checkpoint_is_one_message(project, tmp_path):
    copy = project.copy_to(tmp_path / "project")
    for pattern in ("checkpoints/*.pt", "**/inside.parquet", "tables/**/table8.*"):
        for path in copy.results.glob(pattern):
            path.unlink()
    done = copy.run(TABLE)
    assert done.returncode and done.stdout.count("the checkpoint of") == 1
    assert "Traceback" not in done.stdout
    next(copy.results.rglob("run.json")).unlink()  # what the message says
    again = copy.run(TABLE)
    assert again.returncode == 0, again.stdout
