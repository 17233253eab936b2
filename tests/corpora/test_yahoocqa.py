"""The lines of YahooCQA, whole and broken."""

from functools import partial

import pytest

from analogyqa.corpora.table import Pair
from analogyqa.corpora.yahoocqa import read
from analogyqa.errors import AnalogyQAError

LINES = "which tree#an oak#0\nwhich tree#a fir#1\nwhere is it#here#1\nwhich tree#an elm#1\n"
PAIRS = [
    Pair(1, "1", "which tree", "an oak", 0),
    Pair(2, "1", "which tree", "a fir", 1),
    Pair(3, "2", "where is it", "here", 1),
    Pair(4, "3", "which tree", "an elm", 1),
]


@pytest.fixture
def pairs(read_file):
    return partial(read_file, read, "yahoo.txt")


@pytest.mark.parametrize(
    "content",
    [LINES, LINES.removesuffix("\n"), LINES.replace("\n", "\r\n"), "\ufeff" + LINES],
    ids=["LF", "no last line end", "CRLF", "mark"],
)
def test_consecutive_lines_of_a_question_are_its_candidates(pairs, content):
    assert pairs(content) == PAIRS


def test_texts_are_unchanged(pairs):
    [pair] = pairs('a\t"b" &amp; <c> #  d | é #1\n')
    assert pair == Pair(1, "1", 'a\t"b" &amp; <c> ', "  d | é ", 1)


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ("a#b#c#1", "4 fields"),
        ("a#b", "2 fields"),
        ("", "1 fields"),
        ("a#b#", "label ''"),
        ("a#b#Good", "label 'Good'"),
    ],
)
def test_a_malformed_line_is_an_error(pairs, line, place):
    with pytest.raises(AnalogyQAError, match=rf"yahoo\.txt, line 5: {place}"):
        pairs(f"{LINES}{line}\n")


def test_a_truncated_line_is_an_error(pairs):
    for end in range(1, len(LINES)):
        if LINES[end - 1] == "\n":
            assert pairs(LINES[:end]) == PAIRS[: LINES[:end].count("\n")]
        elif LINES[end - 2] != "#":  # a line may end with its label
            with pytest.raises(AnalogyQAError, match=r"yahoo\.txt, line \d: "):
                pairs(LINES[:end])
