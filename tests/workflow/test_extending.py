"""What docs/extending.md says, done as it is said."""

import re
from pathlib import Path

import pytest

from workflow.project import FEW, Project, copy_checkout

pytestmark = pytest.mark.workflow

PAGE = (Path(__file__).parents[2] / "docs" / "extending.md").read_text(encoding="utf-8")
LINEAR = {"title": "Linear", "encoder": "linear", "vectors": "fasttext", "ranker": "analogy"}


@pytest.fixture
def checkout(tmp_path):
    """A checkout with the encoder of the page, and its line in the registry."""
    folder = copy_checkout(tmp_path / "checkout")
    library = folder / "workflow_scripts" / "analogyqa"
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    (line,) = re.findall(r'    ("linear": Entry.*)', PAGE)
    assert code.count("\n") < 30
    (library / "encoders" / "linear.py").write_text(code)
    registry = library / "registry.py"
    text = registry.read_text()
    registry.write_text(text.replace("ENCODERS = {\n", f"ENCODERS = {{\n    {line}\n", 1))
    return folder


def run(checkout):
    project = Project(checkout / "work").create(**FEW)
    project.configure(**{**FEW, "models": {**FEW["models"], "linear": LINEAR}})
    return project, project.run("--snakefile", str(checkout / "Snakefile"))


def test_the_encoder_of_the_page_has_its_rows(checkout):
    project, done = run(checkout)
    assert done.returncode == 0, done.stdout
    for table in ("table3", "table4"):
        page = (project.results / "tables" / "diallo2019" / f"{table}.md").read_text()
        assert re.search(r"\| Linear\b.*\.\d{3}", page), page


def test_an_encoder_that_does_not_keep_the_interface_stops_before_any_job(checkout):
    path = checkout / "workflow_scripts" / "analogyqa" / "encoders" / "linear.py"
    path.write_text(path.read_text().replace(" * inside[:, :, None]", ""))
    project, done = run(checkout)
    assert done.returncode != 0
    assert "the encoder linear (analogyqa.encoders.linear:LinearEncoder): padding" in done.stdout
    assert "Finished jobid" not in done.stdout
    assert not (project.results / "corpora").exists()
