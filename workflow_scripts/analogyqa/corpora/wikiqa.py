"""WikiQA (Yang et al. 2015) as released: tab-separated with a header; quotes are literal."""

from collections.abc import Iterator
from pathlib import Path

from analogyqa.corpora.table import Pair, parse_label, read_columns

COLUMNS = ("QuestionID", "Question", "Sentence", "Label")


def read(path: str | Path) -> Iterator[Pair]:
    """Yield the pairs of one split's file.

    Raises:
        AnalogyQAError: for a missing column, a row of the wrong width or a label other than 0 or 1.
    """
    for number, fields in read_columns(path, COLUMNS, "a WikiQA file"):
        question_id, question, candidate, label = fields
        yield Pair(number, question_id, question, candidate, parse_label(label, path, number))
