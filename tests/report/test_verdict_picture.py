"""The picture of the verdicts on a paper."""

import re
from collections.abc import Iterator
from xml.etree import ElementTree

import pytest

from analogyqa.report.verdict_picture import MOST, NAMES, SHAPES, WIDTH, verdict_svg
from report.test_outcomes import PAPER, make_ledger

SCORE = {"published": 0.8, "mean": 0.6, "run_low": 0.5, "run_high": 0.7, "measure": "mrr"}


def marks(svg: str, shape: str) -> Iterator[str]:
    """Yield the places of our marks of a verdict from the left of their column."""
    return re.finditer(rf'translate\(([\d.]+)\)" d="{re.escape(SHAPES[shape])}"', svg)


def test_a_paper_without_numbers_has_no_picture():
    assert verdict_svg(PAPER, make_ledger()) == ""


def test_rows_columns_and_measures_are_named():
    rows = [
        SCORE | {"verdict": "lower", "row": "Ours & theirs", "column": "WikiQA"},
        SCORE | {"verdict": "inconclusive", "row": "Ours & theirs", "column": "TrecQA"},
        {"verdict": "not run", "published": 0.5, "row": "Missing", "column": "TrecQA"},
    ]
    svg = verdict_svg(PAPER, make_ledger(*rows))
    texts = [text for text in ElementTree.fromstring(svg).itertext() if text.strip()]
    assert texts.count("Ours & theirs") == 1 and "Missing" not in texts  # we have no value
    assert {"Table 4: MRR", "WikiQA", "TrecQA", ".5", ".8"} < {*texts}  # the axis is rounded
    assert {"lower (1)", "inconclusive (1)", "not run (1)"} < {*texts}
    assert texts.count("Ours & theirs, WikiQA: ours .600, published .800: lower") == 1


def test_scores_of_a_table_have_one_axis():
    low = {"verdict": "lower", "row": "A", "column": "MAP", "mean": 0.2}
    high = {"verdict": "higher", "row": "A", "column": "MRR", "mean": 1.0, "published": 0.6}
    svg = verdict_svg(PAPER, make_ledger(SCORE | low, SCORE | high))
    (lower,), (higher,) = (marks(svg, verdict) for verdict in ("lower", "higher"))
    assert [float(mark[1]) for mark in (lower, higher)] == [0, MOST]


@pytest.mark.parametrize("count", [1, 3, 9, 20])
def test_the_picture_has_every_number_within_its_width(count):
    numbers = [SCORE | {"verdict": "lower", "row": "A", "column": str(n)} for n in range(count)]
    svg = verdict_svg(PAPER, make_ledger(*numbers))
    assert svg.count("<title>") == len([*marks(svg, "lower")]) == count
    starts = [float(x) for x in re.findall(r"translate\((\d+) \d+\)\">\n<text x", svg)]
    widths = [float(width) for width in re.findall(r'class="tick" x="([\d.]+)"', svg)]
    assert len(starts) == count and min(starts) == NAMES
    assert max(map(sum, zip(starts, widths[1::2], strict=True))) < WIDTH


def test_enforced_numbers_are_left_out():
    enforced = {"verdict": "enforced", "published": 3, "mean": 3, "kind": "count"}
    svg = verdict_svg(
        PAPER, make_ledger(enforced | {"artefact": "table1"}, SCORE | {"verdict": "lower"})
    )
    assert "Table 1" not in svg and "Table 4" in svg


def test_equal_scores_can_be_drawn():
    equal = {"verdict": "reproduced", "published": 1, "mean": 1, "measure": "mrr"}
    (mark,) = marks(verdict_svg(PAPER, make_ledger(equal)), "reproduced")
    assert float(mark[1]) == MOST


def test_a_ratio_beyond_the_axis_is_drawn_at_the_edge():
    counts = {"verdict": "higher", "published": 1, "kind": "count"}
    svg = verdict_svg(PAPER, make_ledger(*({**counts, "mean": mean} for mean in (1, 8, 99))))
    assert [float(mark[1]) for mark in marks(svg, "higher")] == [MOST / 2, MOST, MOST]
