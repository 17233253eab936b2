"""The XML of SemEval's community question answering, valid and hostile."""

from functools import partial

import pytest

from analogyqa.corpora.semeval import read
from analogyqa.corpora.table import Pair
from builders.damaged import CQA, RELATED, THREAD

PAIRS = [
    Pair(13, "Q1_R2", "a tree which one & where ?", "an oak", 1),
    Pair(14, "Q1_R2", "a tree which one & where ?", "a <b> c", 0),
    Pair(15, "Q1_R2", "a tree which one & where ?", "ask", 0),
]


@pytest.fixture
def pairs(read_file):
    return partial(read_file, read, "cqa.xml")


@pytest.mark.parametrize(
    "content",
    [CQA, CQA.replace("an oak", "an<i> oak</i>")],
    ids=["text", "nested elements"],
)
def test_comments_become_pairs(pairs, content):
    assert pairs(content) == PAIRS


def test_repeated_threads_and_original_questions_are_skipped(pairs):
    mark = ' SubtaskA_Skip_Because_Same_As_RelQuestion_ID="Q7_R7">'
    repeated = THREAD.replace('_SEQUENCE="Q1_R2">', f'_SEQUENCE="Q1_R2"{mark}')
    original = '<OrgQuestion ORGQ_ID="Q1"><OrgQSubject>x</OrgQSubject><OrgQBody>y</OrgQBody>'
    other = THREAD.replace("Q1_R2", "Q1_R4")
    content = f"<xml>{original}{repeated}{other}</OrgQuestion></xml>"
    assert [pair.question_id for pair in pairs(content)] == ["Q1_R4"] * 3


@pytest.mark.parametrize(
    ("part", "kept", "question"),
    [
        ("<RelQSubject>a tree</RelQSubject>", "<RelQSubject/>", "which one & where ?"),
        ("which one", "", "a tree & where ?"),
    ],
)
def test_the_subject_or_the_body_may_be_empty(pairs, part, kept, question):
    assert {pair.question for pair in pairs(CQA.replace(part, kept))} == {question}


def test_the_released_question_without_comments_is_skipped(pairs):
    empty = f"<Thread>{RELATED.replace('Q1_R2', 'Q2657')}</Thread>"
    assert pairs(CQA.replace("</xml>", f"{empty}</xml>")) == PAIRS


BOMB = '<!ENTITY a0 "boom">' + "".join(
    f'<!ENTITY a{number} "{f"&a{number - 1};" * 10}">' for number in range(1, 12)
)


def test_deep_nesting_does_not_crash(pairs):
    deep = "<i>" * 30_000 + "oak" + "</i>" * 30_000
    assert pairs(CQA.replace("an oak", deep))[0].candidate == "oak"
    assert pairs("<a>" * 30_000 + "</a>" * 30_000) == []
