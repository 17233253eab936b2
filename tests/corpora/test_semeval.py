"""The XML of SemEval's community question answering, valid and hostile."""

from functools import partial

import pytest

from analogyqa.corpora.semeval import read
from analogyqa.corpora.table import Pair
from analogyqa.errors import AnalogyQAError

DTD = """\
<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE xml [
<!ELEMENT xml (Thread*)>
<!ATTLIST Thread THREAD_SEQUENCE CDATA #REQUIRED>
]>
"""
RELATED = """\
<RelQuestion RELQ_ID="Q1_R2">
<RelQSubject>a tree</RelQSubject>
<RelQBody>which one   &amp; where
?</RelQBody>
</RelQuestion>
"""
COMMENT = '<RelComment RELC_ID="Q1_R2_C1" RELC_RELEVANCE2RELQ="Good"><RelCText>an oak</RelCText>'
COMMENT += "</RelComment>\n"
BAD = COMMENT.replace("C1", "C2").replace("Good", "Bad").replace("an oak", "a &lt;b> \xa0c")
USEFUL = COMMENT.replace("C1", "C3").replace("Good", "PotentiallyUseful").replace("an oak", "ask")
THREAD = f'<Thread THREAD_SEQUENCE="Q1_R2">\n{RELATED}{COMMENT}{BAD}{USEFUL}</Thread>\n'
FILE = f'{DTD}<xml version="1.0">\n{THREAD}</xml>\n'
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
    [FILE, FILE.replace("an oak", "an<i> oak</i>")],
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
    assert {pair.question for pair in pairs(FILE.replace(part, kept))} == {question}


def test_the_released_question_without_comments_is_skipped(pairs):
    empty = f"<Thread>{RELATED.replace('Q1_R2', 'Q2657')}</Thread>"
    assert pairs(FILE.replace("</xml>", f"{empty}</xml>")) == PAIRS


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        (' RELQ_ID="Q1_R2"', "", "line 8: a RelQuestion without RELQ_ID"),
        (' RELC_RELEVANCE2RELQ="Bad"', "", "line 14: a RelComment without RELC_RELEVANCE2RELQ"),
        ('"Bad"', '"?"', r"line 14: unknown label '\?' .*Good, Potential"),
        ('"Bad"', f'"{"x" * 9999}"', r"line 14: unknown label 'x+\.\.\.x+'"),
        (COMMENT + BAD + USEFUL, "", "line 8: the question Q1_R2 has no comments"),
        (RELATED, "", "line 7: expected a RelQuestion and then RelComments"),
        (RELATED, RELATED * 2, "line 7: expected a RelQuestion"),
        (RELATED + COMMENT, COMMENT + RELATED, "line 7: expected a RelQuestion"),
        (COMMENT, f"<Thread>{COMMENT}</Thread>", "line 7: expected a RelQuestion"),
        (THREAD, "<Thread/>", "line 7: expected a RelQuestion"),
        ("RelQBody", "RelQClean", "line 8: a RelQuestion with 0 RelQBody instead of one"),
        ("an oak", "an</RelCText><RelCText>oak", "line 13: a RelComment with 2 RelCText"),
        (THREAD, THREAD * 2, "line 18: a second element with the id Q1_R2"),
        (COMMENT, COMMENT * 2, "line 14: a second element with the id Q1_R2_C1"),
        ("Q1_R2_C3", "Q1_R2", "line 15: a second element with the id Q1_R2"),
        # Malformed XML: the parser raises a SAXException, a ValueError or a LookupError.
        ("an oak", "an <oak", r"line 13: malformed XML \("),
        ("utf-8", "utf-7", "line 1: malformed"),
        ("utf-8", "no", "line 1: malformed"),
    ],
)
def test_a_malformed_file_is_an_error(pairs, old, new, place):
    assert old in FILE
    with pytest.raises(AnalogyQAError, match=rf"cqa\.xml, {place}"):
        pairs(FILE.replace(old, new))


def test_a_truncated_file_is_an_error(pairs):
    for length in range(1, len(FILE) - 2, 37):
        with pytest.raises(AnalogyQAError, match=r"cqa\.xml, line \d+: malformed XML"):
            pairs(FILE[:length])


BOMB = '<!ENTITY a0 "boom">' + "".join(
    f'<!ENTITY a{number} "{f"&a{number - 1};" * 10}">' for number in range(1, 12)
)


def declare(declaration: str, text: str) -> str:
    return FILE.replace("]>", f"{declaration}\n]>", 1).replace("an oak", text)


@pytest.mark.parametrize(
    "content",
    [
        declare(BOMB, "&a11;"),
        declare('<!ENTITY a "harmless">', "an oak"),
        declare("%a;", "&b;"),
    ],
    ids=["billion laughs", "any", "undeclared parameter"],
)
def test_entities_are_refused(pairs, content):
    with pytest.raises(AnalogyQAError, match=r"cqa\.xml, line \d+: malformed XML"):
        pairs(content)


def test_deep_nesting_does_not_crash(pairs):
    deep = "<i>" * 30_000 + "oak" + "</i>" * 30_000
    assert pairs(FILE.replace("an oak", deep))[0].candidate == "oak"
    assert pairs("<a>" * 30_000 + "</a>" * 30_000) == []
