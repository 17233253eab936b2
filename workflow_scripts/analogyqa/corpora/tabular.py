"""Questions and answers in a table: CSV, TSV, JSON lines or Parquet, and WikiQA as released."""

import csv
import io
import json
import logging
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from analogyqa.corpora.table import WITHOUT_QUOTES, Pair, are_quoted, parse_label
from analogyqa.errors import AnalogyQAError, shown
from analogyqa.files import decode_text, read_bytes, read_lines, require_text_file, split_lines

log = logging.getLogger(__name__)

# The usual names of each column, without case, spaces and punctuation: those of WikiQA, of
# Hugging Face's data sets, and of castorini's and MS MARCO's files.
NAMES = {
    "question": ("question", "query", "questiontext", "querytext"),
    "candidate": ("candidate", "answer", "sentence", "passage", "response", "answertext"),
    "label": ("label", "relevance", "relevant", "iscorrect", "correct"),
    "id": ("questionid", "qid", "queryid"),
}
OPTIONAL = "id"
_DELIMITERS = ("\t", ",", ";", "|")
_LABELS = {"1.0": "1", "true": "1", "0.0": "0", "false": "0"}
_EXCEL = "cp1252"  # the encoding of Excel's plain CSV on most Windows machines

WIKIQA = ("QuestionID", "Question", "Sentence", "Label")

Row = tuple[int, Sequence]  # its line, and its fields; the first row is the header


def read(
    path: str | Path, columns: Mapping[str, str] | None = None, encoding: str | None = None
) -> Iterator[Pair]:
    """Yield the pairs of a table, with all candidates of a question together.

    The format is recognised by the content. Quotes are read as CSV has them, and spaces and line
    ends within a text become single spaces. Without a column of ids, questions are distinguished by
    their texts.

    Args:
        path: The file.
        columns: The name of the column of each key of NAMES; the usual names are found.
        encoding: The encoding of a text file; None for UTF-8, or else what Excel writes.

    Raises:
        AnalogyQAError: for a missing column, or a row with other fields than the header.
    """
    data = read_bytes(path)
    if data.startswith(b"PAR1"):
        rows = _parquet_rows(data, path)
    else:
        text = _decode(data, path, encoding)
        is_json = text.lstrip().startswith("{")
        rows = _json_rows(text, path) if is_json else delimited_rows(text, path)
    _, header = next(rows)
    positions = find_columns(header, columns or {})
    if missing := [key for key in NAMES if key not in {*positions, OPTIONAL}]:
        raise AnalogyQAError(
            f"{path}, line 1: no column for the {' and the '.join(missing)}. The columns are "
            f"{shown(header)}. Name the right one: columns: {{{missing[0]}: NAME}}"
        )
    numbers: dict[str, int] = {}
    pairs = []
    for line, fields in rows:
        texts = {}
        for key, position in positions.items():
            value = fields[position]
            if value is None or isinstance(value, list | dict | bytes):
                raise AnalogyQAError(
                    f"{path}, line {line}: the {key} is {shown(value)}, which is no text."
                )
            texts[key] = " ".join(str(value).split())
        question = texts["question"]
        number = numbers.setdefault(question, len(numbers) + 1)
        label = _LABELS.get(texts["label"].lower(), texts["label"])
        question_id = texts.get("id", f"q{number}")
        value = parse_label(label, path, line)
        pairs.append(Pair(line, question_id, question, texts["candidate"], value))
    # The first row of a question decides its place.
    places: dict[str, int] = {}
    yield from sorted(pairs, key=lambda pair: places.setdefault(pair.question_id, len(places)))


def find_columns(header: Sequence[str], columns: Mapping[str, str]) -> dict[str, int]:
    """Return the position of each key of NAMES whose column a header has.

    `columns` are names that the user has given, which are not looked for under another name.
    """
    plain = [_plain(name) for name in header]
    names = NAMES | {key: (_plain(name),) for key, name in columns.items()}
    matching = {key: [name for name in usual if name in plain] for key, usual in names.items()}
    return {key: plain.index(present[0]) for key, present in matching.items() if present}


def split_header(line: str) -> tuple[str, list[str]]:
    """Return the delimiter of a header, and its names: that which finds the most columns."""
    split = {delimiter: next(csv.reader([line], delimiter=delimiter)) for delimiter in _DELIMITERS}
    best = max(split, key=lambda name: (len(find_columns(split[name], {})), len(split[name])))
    return best, split[best]


def _plain(name: str) -> str:
    """Return a name without case, spaces and punctuation; a no-break space is a space, too."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", name).casefold()))


def _decode(data: bytes, path: str | Path, encoding: str | None) -> str:
    if encoding is None:
        try:
            data.decode()
        except UnicodeDecodeError:
            require_text_file(data, path)
            text = decode_text(data, path, _EXCEL)
            # A no-break space may be all that is not ASCII; `text.split()` would drop it.
            words = re.split(r"\s", text, flags=re.ASCII)
            word = next(word for word in words if not word.isascii())
            log.warning(
                "%s: not UTF-8, so it is read as %s, which Excel on Windows writes: %s. If this is "
                "not what the file says, name its encoding: `encoding: NAME`.",
                *(path, _EXCEL, shown(word)),
            )
            return text
    return decode_text(data, path, encoding or "utf-8")


def delimited_rows(text: str, path: str | Path) -> Iterator[Row]:
    """Yield the header of a table, then its other rows with their lines, without empty ones.

    Raises AnalogyQAError for a row with other fields than the header; `path` is for messages.
    """
    _, first = next(split_lines(text, path), (1, ""))
    delimiter, header = split_header(first)
    yield 1, header
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    line = 1
    try:
        for number, fields in enumerate(rows):
            if number and any(field.strip() for field in fields):
                if len(fields) != len(header):
                    raise AnalogyQAError(
                        f"{path}, line {line}: {len(fields)} fields, but the header has "
                        f"{len(header)}. Put a text with a delimiter or a quote in it in double "
                        "quotes."
                    )
                yield line, fields
            line = rows.line_num + 1
    except csv.Error as error:
        raise AnalogyQAError(
            f"{path}, line {line}: {error}. Double the quotes within a quoted text; a WikiQA file, "
            "whose quotes are part of the text, has `reader: wikiqa`."
        ) from error


def _json_rows(text: str, path: str | Path) -> Iterator[Row]:
    header: list[str] = []
    for line, content in split_lines(text, path):
        if not content.strip():
            continue
        try:
            row = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise AnalogyQAError(
                f"{path}, line {line}: not JSON ({error}). Write one object on each line."
            ) from error
        if not isinstance(row, dict):
            raise AnalogyQAError(f"{path}, line {line}: {shown(row)} is not an object.")
        if not header:
            header = list(row)
            yield line, header
        yield line, [row.get(name) for name in header]


def _parquet_rows(data: bytes, path: str | Path) -> Iterator[Row]:
    try:
        table = pq.read_table(pa.BufferReader(data))
        columns = [column.to_pylist() for column in table.columns]
    except (pa.ArrowException, OSError, ValueError) as error:
        raise AnalogyQAError(f"{path}: damaged Parquet file ({error}). Make it again.") from error
    yield 0, table.column_names
    yield from enumerate(zip(*columns, strict=True), start=1)


def read_wikiqa(path: str | Path) -> Iterator[Pair]:
    """Yield the pairs of a file of WikiQA (Yang et al. 2015), where quotes are literal.

    Other columns are ignored.

    Raises:
        AnalogyQAError: for a missing or repeated column, a quoted header, a row that is not as
            wide as the header, or a label other than 0 or 1.
    """
    lines = read_lines(path)
    _, header = next(lines, (0, ""))
    names = header.split("\t")
    _check_wikiqa_header(names, path)
    positions = [names.index(column) for column in WIKIQA]
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


def _check_wikiqa_header(names: list[str], path: str | Path) -> None:
    if are_quoted(names):
        cause = "the column names are in double quotes, as spreadsheets write them."
        raise AnalogyQAError(f"{path}, line 1: {cause} {WITHOUT_QUOTES}.")
    if missing := [column for column in WIKIQA if column not in names]:
        columns = find_columns(split_header("\t".join(names))[1], {})
        can_read = NAMES.keys() <= {*columns, OPTIONAL}
        hint = " `reader: table` reads this file as it is." if can_read else ""
        raise AnalogyQAError(
            f"{path}, line 1: no column {', '.join(missing)} in the header, which is "
            f"{shown(names)}. A WikiQA file has {', '.join(WIKIQA)}, with tabs between them.{hint}"
        )
    if repeated := [column for column in WIKIQA if names.count(column) > 1]:
        raise AnalogyQAError(
            f"{path}, line 1: the header repeats the column {', '.join(repeated)}. "
            "Remove or rename all but one."
        )
