"""The examples of the CoNLL paper's Table 1 in the real data."""

import pytest

from analogyqa.report.views.texts import NO, WITHIN, YES, look_up
from analogyqa.settings.load import PAPERS
from analogyqa.settings.paper import load_paper
from builders.mirror import MIRROR, build, needs

pytestmark = [*needs(MIRROR), pytest.mark.draw]

EXPECTED = {
    "Where, A and B": ("train", YES, NO, "february hardin"),
    "Where, C and D": ("dev", YES, NO, "july 3 bohemia now czech republic"),
    "Who, A and B": ("train", YES, WITHIN, ""),
    "Who, C and D": ("dev", YES, NO, ""),
    "When, A and B": ("train", YES, NO, "on 15 april"),
    "When, C and D": ("train", NO, NO, "mt"),
}


def test_no_printed_answer_is_a_whole_candidate():
    """Five of the six questions are there word for word, and one answer within a longer one."""
    corpus = build("trecqa").assign(panel="TrecQA")
    matches = {}
    for quote in load_paper(PAPERS / "diallo2019" / "paper.yaml").views["table1"].quotes:
        question, answer = look_up(quote, corpus)
        assert answer["label"] == 1
        missing = answer["missing"]
        matches[quote.example] = (question["split"], question["exact"], answer["exact"], missing)
    assert matches == EXPECTED
