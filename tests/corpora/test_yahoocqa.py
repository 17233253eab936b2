"""The lines of YahooCQA, whole and broken."""

import pytest

from analogyqa.corpora.table import Pair, build_corpus
from analogyqa.corpora.yahoocqa import read
from analogyqa.errors import AnalogyQAError
from analogyqa.schemas import SPLITS

LINES = "which tree#an oak#0\nwhich tree#a fir#1\nwhere is it#here#1\nwhich tree#an elm#1\n"
PAIRS = [
    Pair(1, "1", "which tree", "an oak", 0),
    Pair(2, "1", "which tree", "a fir", 1),
    Pair(3, "2", "where is it", "here", 1),
    Pair(4, "3", "which tree", "an elm", 1),
]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "yahoo.txt"


@pytest.fixture
def pairs(path):
    def pairs(content: str | bytes) -> list[Pair]:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return list(read(path))

    return pairs


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


def test_a_question_that_returns_is_a_new_question(path):
    path.write_text(LINES)
    corpus = build_corpus("it", "yahoocqa", dict.fromkeys(SPLITS, str(path)), {}, {})
    own = corpus[corpus["split"] == "dev"]
    assert own["question_id"].tolist() == ["1", "1", "2", "3"]
    assert own["candidate"].tolist() == [pair.candidate for pair in PAIRS]


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ("a#b#c#1", "4 fields"),
        ("a#b", "2 fields"),
        ("", "1 fields"),
        ("a#b#", "label ''"),
        ("a#b#2", "label '2'"),
        ("a#b# 1", "label ' 1'"),
        ("a#b#Good", "label 'Good'"),
        ("a\0#b#1", "a NUL character"),
        ("a\rb#c#1", "a carriage return inside the line"),
        ("\udce9#b#1", "not UTF-8"),
    ],
)
def test_a_malformed_line_is_an_error(pairs, line, place):
    content = f"{LINES}{line}\n".encode(errors="surrogateescape")
    with pytest.raises(AnalogyQAError, match=rf"yahoo\.txt, line 5: {place}"):
        pairs(content)


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ("#b#1\n", ", line 1: the question is empty"),
        ("a# #1\n", ", line 1: the candidate is empty"),
        ("", ": no questions in this file"),
    ],
)
def test_empty_texts_and_files_are_errors(path, content, place):
    path.write_text(content)
    with pytest.raises(AnalogyQAError, match=rf"yahoo\.txt{place}"):
        build_corpus("it", "yahoocqa", dict.fromkeys(SPLITS, str(path)), {}, {})


@pytest.mark.parametrize("end", [end for end in range(1, len(LINES)) if LINES[end - 2] != "#"])
def test_a_truncated_line_is_an_error(pairs, end):
    if LINES[end - 1] == "\n":
        assert pairs(LINES[:end]) == PAIRS[: LINES[:end].count("\n")]
    else:
        with pytest.raises(AnalogyQAError, match=r"yahoo\.txt, line \d: "):
            pairs(LINES[:end])
