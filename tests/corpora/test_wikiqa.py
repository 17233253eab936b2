"""Valid and malformed WikiQA files."""

from functools import partial

import pytest

from analogyqa.corpora.table import Pair
from analogyqa.corpora.wikiqa import read

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
