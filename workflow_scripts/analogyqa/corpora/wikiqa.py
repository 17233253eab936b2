"""WikiQA (Yang et al. 2015) as released: tab-separated, a header, quotes are literal."""

from collections.abc import Iterator
from pathlib import Path

from analogyqa.corpora.table import Pair, parse_label, read_lines
from analogyqa.errors import AnalogyQAError

COLUMNS = (
    "QuestionID",
    "Question",
    "DocumentID",
    "DocumentTitle",
    "SentenceID",
    "Sentence",
    "Label",
)


def read(path: str | Path) -> Iterator[Pair]:
    """Yield the pairs of one split's file.

    Raises AnalogyQAError, naming the line, for a missing column, a row of another width or a
    label that is neither 0 nor 1.
    """
    lines = read_lines(path)
    _, header = next(lines, (0, ""))
    names = header.split("\t")
    missing = [column for column in COLUMNS if column not in names]
    if missing:
        raise AnalogyQAError(
            f"{path}, line 1: no column {', '.join(missing)} in the header; "
            f"a WikiQA file has {', '.join(COLUMNS)}"
        )
    places = [names.index(column) for column in ("QuestionID", "Question", "Sentence", "Label")]
    for number, line in lines:
        fields = line.split("\t")
        if len(fields) != len(names):
            raise AnalogyQAError(
                f"{path}, line {number}: {len(fields)} fields, the header has {len(names)}"
            )
        question_id, question, candidate, label = (fields[place] for place in places)
        yield Pair(number, question_id, question, candidate, parse_label(label, path, number))
