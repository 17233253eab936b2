"""WikiQA (Yang et al. 2015) as released: tab-separated with a header; quotes are literal."""

import logging
from collections.abc import Iterator
from pathlib import Path

from analogyqa.corpora.table import WITHOUT_QUOTES, Pair, are_quoted, parse_label
from analogyqa.corpora.tabular import NAMES, OPTIONAL, find_columns, split_header
from analogyqa.errors import AnalogyQAError, shown
from analogyqa.files import read_lines

log = logging.getLogger(__name__)

COLUMNS = ("QuestionID", "Question", "Sentence", "Label")


def read(path: str | Path) -> Iterator[Pair]:
    """Yield the pairs of one split's file; other columns are ignored.

    Raises:
        AnalogyQAError: for a missing or repeated column, a quoted header, a row that is not as
            wide as the header, or a label other than 0 or 1.
    """
    lines = read_lines(path)
    _, header = next(lines, (0, ""))
    names = header.split("\t")
    _check_header(names, path)
    positions = [names.index(column) for column in COLUMNS]
    as_csv = []  # the lines with a field that CSV would read in another way
    for number, line in lines:
        fields = line.split("\t")
        if len(fields) != len(names):
            raise AnalogyQAError(
                f"{path}, line {number}: {len(fields)} fields, but the header has {len(names)}. "
                "Remove empty lines and tabs inside texts, or fetch the file again."
            )
        question_id, question, candidate, label = (fields[position] for position in positions)
        if any(are_quoted([text]) and '""' in text[1:-1] for text in (question, candidate)):
            as_csv.append(number)
        yield Pair(number, question_id, question, candidate, parse_label(label, path, number))
    if as_csv:
        log.warning(
            "%s: %d lines have a text in quotes with doubled quotes in it (first: line %d). They "
            "are kept as they are; `reader: table` reads quotes as CSV has them.",
            *(path, len(as_csv), as_csv[0]),
        )


def _check_header(names: list[str], path: str | Path) -> None:
    if are_quoted(names):
        cause = "the column names are in double quotes, as spreadsheets write them."
        raise AnalogyQAError(f"{path}, line 1: {cause} {WITHOUT_QUOTES}.")
    if missing := [column for column in COLUMNS if column not in names]:
        found = find_columns(split_header("\t".join(names))[1], {})
        can_read = NAMES.keys() <= {*found, OPTIONAL}
        hint = " `reader: table` reads this file as it is." if can_read else ""
        raise AnalogyQAError(
            f"{path}, line 1: no column {', '.join(missing)} in the header, which is "
            f"{shown(names)}. A WikiQA file has {', '.join(COLUMNS)}, with tabs between them.{hint}"
        )
    if repeated := [column for column in COLUMNS if names.count(column) > 1]:
        raise AnalogyQAError(
            f"{path}, line 1: the header repeats the column {', '.join(repeated)}. "
            "Remove or rename all but one."
        )
