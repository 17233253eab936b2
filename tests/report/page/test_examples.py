"""The examples in the report."""

import re

import pytest

from analogyqa.cells import explained_cells
from analogyqa.errors import AnalogyQAError
from analogyqa.report.page.examples import examples_section
from analogyqa.schemas import EXPLANATIONS
from builders.report import CONFERENCE, make_config, make_explanation
from builders.results import PageReader

CONFIG = make_config()
RIGHT, WRONG = make_explanation([1, 0], "who is <right>?"), make_explanation([0, 1], "who fails?")


def test_each_example_has_a_picture_its_candidates_and_its_prototypes(tmp_path):
    assert examples_section(tmp_path, CONFERENCE, CONFIG) == ""
    cell = explained_cells(CONFIG, CONFERENCE)[0]
    path = tmp_path / "runs" / cell.path / "examples.json"
    path.parent.mkdir(parents=True)
    path.write_bytes(EXPLANATIONS.dump_json([RIGHT, WRONG]))
    html = examples_section(tmp_path, CONFERENCE, CONFIG)
    page = PageReader(html)
    assert sum(tag == "details" for tag, _ in page.tags) == 2
    assert all(source.startswith("data:image/svg+xml") for source in page.values("src"))
    assert page.values("value") == ["1", "2", "1", "2"]
    title = f"{CONFIG.systems[cell.system].title} on {CONFIG.datasets[cell.dataset].title}"
    summaries = re.findall(r"<h4>(.*)</h4>|<summary>(.*)</summary>", html)
    assert list(map("".join, summaries)) == [
        *(f"{title}: answered correctly", "who is &lt;right&gt;? (margin +0.100)"),
        *(f"{title}: answered incorrectly", "who fails? (margin -0.100)"),
    ]
    path.write_text("[{}]")
    with pytest.raises(AnalogyQAError, match=r"examples\.json: not a list of explanations"):
        examples_section(tmp_path, CONFERENCE, CONFIG)
