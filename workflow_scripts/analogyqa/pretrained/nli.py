"""Files of natural language inference, as a table of premise, hypothesis and label."""

import io
import json
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import NamedTuple, TextIO

import pandas as pd

from analogyqa.errors import AnalogyQAError

LABELS = ("entailment", "neutral", "contradiction")

_SICK_COLUMNS = ("sentence_A", "sentence_B", "entailment_judgment")
_UNDECIDED = "-"  # the gold label of SNLI where its annotators found no majority


class Pair(NamedTuple):
    """A row of the table; the label is one of LABELS."""

    premise: str
    hypothesis: str
    label: str


def read_nli(files: Iterable[str]) -> pd.DataFrame:
    """Read files of inference pairs, one after the other.

    - SNLI as it was released (`.jsonl`; MultiNLI is alike), less the pairs without a gold label;
    - SICK, known by the column entailment_judgment of its first line;
    - any other file: lines of premise, hypothesis and 0, 1 or 2 (the place in LABELS), separated by
      tabs.

    `archive.zip#member` names a file in a zip archive.

    Returns:
        The columns premise, hypothesis and label.

    Raises:
        AnalogyQAError: for a line that is not of its file's form (file and line named), and for a
            file without a pair.
    """
    pairs: list[Pair] = []
    for name in files:
        before = len(pairs)
        with _opened(name) as file:
            pairs += _pairs(name, file)
        if len(pairs) == before:
            raise AnalogyQAError(f"{name}: no pair of sentences in it")
    return pd.DataFrame(pairs, columns=Pair._fields)


@contextmanager
def _opened(name: str) -> Iterator[TextIO]:
    path, _, member = name.partition("#")
    try:
        if member:
            with zipfile.ZipFile(path) as archive:
                if member not in archive.namelist():
                    raise AnalogyQAError(f"{path}: the archive has no member {member}")
                with archive.open(member) as raw:
                    yield io.TextIOWrapper(raw, encoding="utf-8")
        else:
            with open(path, encoding="utf-8") as file:
                yield file
    except (zipfile.BadZipFile, zlib.error, EOFError, UnicodeDecodeError) as error:
        raise AnalogyQAError(f"{name}: damaged, or of another format ({error})") from error


def _pairs(name: str, file: TextIO) -> Iterator[Pair]:
    jsonl = name.endswith(".jsonl")
    header = [] if jsonl else file.readline().rstrip("\n").split("\t")
    sick = _SICK_COLUMNS[-1] in header
    lines = file if jsonl or sick else chain(["\t".join(header)], file)
    for number, line in enumerate(lines, start=2 if sick else 1):
        try:
            if jsonl:
                pair = _from_json(line)
            elif sick:
                pair = _from_sick(line.rstrip("\n").split("\t"), header)
            else:
                pair = _from_tabs(line.rstrip("\n").split("\t"))
        except ValueError as error:
            raise AnalogyQAError(f"{name}, line {number}: {error}") from error
        if pair.label != _UNDECIDED:
            yield pair


def _from_json(line: str) -> Pair:
    try:
        record = json.loads(line)
        pair = Pair(record["sentence1"], record["sentence2"], record["gold_label"])
    except (json.JSONDecodeError, TypeError, KeyError) as error:
        raise ValueError(
            f"not a JSON object with gold_label, sentence1 and sentence2 ({error!r})"
        ) from error
    if pair.label not in (*LABELS, _UNDECIDED):
        raise ValueError(f"gold_label {pair.label!r} is none of {', '.join(LABELS)}, -")
    return pair


def _from_sick(fields: Sequence[str], header: Sequence[str]) -> Pair:
    if len(fields) != len(header):
        raise ValueError(f"{len(fields)} fields, but the first line has {len(header)}")
    values = dict(zip(header, fields, strict=True))
    premise, hypothesis, judgment = (values.get(column) for column in _SICK_COLUMNS)
    if premise is None or hypothesis is None:
        raise ValueError(f"the first line lacks one of {', '.join(_SICK_COLUMNS)}")
    if judgment.lower() not in LABELS:
        raise ValueError(f"entailment_judgment {judgment!r} is none of {', '.join(LABELS)}")
    return Pair(premise, hypothesis, judgment.lower())


def _from_tabs(fields: Sequence[str]) -> Pair:
    codes = [str(code) for code in range(len(LABELS))]
    if len(fields) != 3 or fields[2] not in codes:
        raise ValueError("expected premise, hypothesis and 0, 1 or 2, separated by tabs")
    return Pair(fields[0], fields[1], LABELS[int(fields[2])])
