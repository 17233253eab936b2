"""The picture of the verdicts on a paper."""

import re
from xml.etree import ElementTree

from analogyqa.evaluation.published import ledger_key
from analogyqa.evaluation.verdicts import OUR_DATA
from analogyqa.report.verdict_picture import SHAPES, SIDE, verdict_svg
from report.test_outcomes import PAPER, make_ledger

SCORE = {"published": 0.8, "mean": 0.6, "sd": 0.01, "run_low": 0.5, "run_high": 0.7}
SCORE |= {"measure": "mrr", "verdict": "lower", "row": "Ours & theirs"}


def marks(svg: str, shape: str) -> list[tuple[float, float]]:
    """Return the places of the marks of a verdict, from the left and from the top."""
    path = rf'translate\(([\d.]+) ([\d.]+)\)" d="{re.escape(SHAPES[shape])}"[^>]*><title>'
    return [(float(x), float(y)) for x, y in re.findall(path, svg)]


def test_scores_with_a_verdict_are_named_and_counted():
    rows = [
        SCORE,
        SCORE | {"verdict": "inconclusive", "column": "MAP"},
        {"verdict": "not run", "published": 0.5},
        {"verdict": "not comparable", "published": 0.5, "mean": 0.4, "data": OUR_DATA},
        {"verdict": "reproduced", "published": 3, "mean": 3, "kind": "count"},
    ]
    svg = verdict_svg(PAPER, make_ledger(*rows))
    texts = [text for text in ElementTree.fromstring(svg).itertext() if text.strip()]
    assert {"lower (1)", "inconclusive (1)", "published", "ours"} < {*texts}
    name = "Table 4, Ours & theirs, MRR: ours .600 ± .010 [.500, .700], published .800: lower"
    assert texts.count(name) == svg.count("<title>") - 1 == 1


def test_a_score_is_above_the_diagonal_if_ours_is_higher():
    higher = SCORE | {"verdict": "higher", "published": 0.4}
    svg = verdict_svg(PAPER, make_ledger(SCORE, higher, SCORE | {"mean": 0.4}))
    # The axes are from .4 to .8.
    assert marks(svg, "lower") == [(SIDE, SIDE / 2), (SIDE, SIDE)]
    assert marks(svg, "higher") == [(0, SIDE / 2)]


def test_equal_scores_can_be_drawn_and_other_marks_lead_to_their_numbers():
    ledger = make_ledger(SCORE | {"verdict": "reproduced", "published": 1, "mean": 1})
    number = {ledger_key(ledger.iloc[0]): "table4-of-tiny2020/a"}
    ((x, y),) = marks(verdict_svg(PAPER, ledger, number), "reproduced")
    assert x == SIDE - y
    assert 'data-number="table4-of-tiny2020/a"' in verdict_svg(PAPER, ledger, number)


def test_without_a_verdict_a_file_has_no_marks_and_a_page_has_no_picture():
    assert "<title>" not in verdict_svg(PAPER, make_ledger())
    assert verdict_svg(PAPER, make_ledger(), {}) == ""
