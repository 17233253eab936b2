"""The examples in the report."""

import pytest

from analogyqa.cells import explained_cells
from analogyqa.errors import AnalogyQAError
from analogyqa.report.page.papers import examples_section
from analogyqa.schemas import EXPLANATIONS
from builders.golden import page_text
from builders.report import CONFERENCE, make_config, make_explanation
from builders.results import PageReader

CONFIG = make_config()
RIGHT, WRONG = make_explanation([1, 0], "who is <right>?"), make_explanation([0, 1], "who fails?")


def test_each_example_has_a_picture_its_candidates_and_its_prototypes(tmp_path, golden):
    assert examples_section(tmp_path, CONFERENCE, CONFIG) == ""
    cell = explained_cells(CONFIG, CONFERENCE)[0]
    path = tmp_path / "runs" / cell.path / "examples.json"
    path.parent.mkdir(parents=True)
    path.write_bytes(EXPLANATIONS.dump_json([RIGHT, WRONG]))
    html = examples_section(tmp_path, CONFERENCE, CONFIG)
    PageReader(html)  # its tags are balanced
    golden(page_text(html, tmp_path), "examples.html")
    path.write_text("[{}]")
    with pytest.raises(AnalogyQAError, match=r"examples\.json: not a list of explanations"):
        examples_section(tmp_path, CONFERENCE, CONFIG)
