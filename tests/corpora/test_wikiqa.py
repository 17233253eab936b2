"""Valid and malformed WikiQA files."""

from functools import partial

import pytest

from analogyqa.corpora.table import Pair
from analogyqa.corpora.wikiqa import COLUMNS, read
from analogyqa.errors import AnalogyQAError

HEADER = "QuestionID\tQuestion\tDocumentID\tDocumentTitle\tSentenceID\tSentence\tLabel\n"
ROW = "Q1\twho is it ?\tD1\tTitle\tD1-0\tIt is anna .\t1\n"


@pytest.fixture
def pairs(read_file):
    return partial(read_file, read, "WikiQA.tsv")


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_rows_become_pairs_with_literal_quotes(pairs, line_end):
    content = HEADER + ROW + ROW.replace("anna", '"bruno').replace("\t1\n", "\t0\n") + ROW
    assert pairs(content.replace("\n", line_end)) == [
        Pair(2, "Q1", "who is it ?", "It is anna .", 1),
        Pair(3, "Q1", "who is it ?", 'It is "bruno .', 0),
        Pair(4, "Q1", "who is it ?", "It is anna .", 1),
    ]


def test_columns_are_found_by_name(pairs):
    content = "Label\tSentence\tMore\tQuestion\tQuestionID\tDocumentID\tDocumentTitle\tSentenceID\n"
    content += "1\tIt is anna .\tx\twho is it ?\tQ1\tD1\tTitle\tD1-0\n"
    assert pairs(content) == [Pair(2, "Q1", "who is it ?", "It is anna .", 1)]


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ("", "line 1: no column"),
        *((HEADER.replace(column, "Other") + ROW, rf"line 1: no column .*\b{column}\b")
          for column in COLUMNS),
        (HEADER.replace("\n", "\tLabel\n") + ROW, "line 1: the header repeats the column Label"),
        ('"QuestionID"\t"Question"\n', "line 1: .*double quotes"),
        (HEADER + ROW.replace("\t1\n", "\t2\n"), "line 2: label '2'"),
        (HEADER + ROW.replace("\t1\n", "\n"), "line 2: 6 fields, but the header has 7"),
        (HEADER + ROW.replace("\n", "\tmore\n"), "line 2: 8 fields, but the header has 7"),
        (HEADER + ROW + "\n", "line 3: 1 fields"),
        ((HEADER + ROW).encode() + b"Q2\t\xff\n", "line 3: not UTF-8"),
    ],
)  # fmt: skip
def test_a_malformed_file_is_an_error(pairs, content, place):
    with pytest.raises(AnalogyQAError, match=rf"WikiQA\.tsv, {place}"):
        pairs(content)
