"""Files of natural language inference, as a table of premise, hypothesis and label."""

import io
import json
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Literal, NamedTuple, TextIO

import pandas as pd

from analogyqa.corpora.table import WITHOUT_QUOTES, are_quoted
from analogyqa.errors import AnalogyQAError
from analogyqa.text import require_text
from analogyqa.vectors.text_files import open_packed

LABELS = ("entailment", "neutral", "contradiction")

_SICK_COLUMNS = ("sentence_A", "sentence_B", "entailment_judgment")
_LONGEST_LINE = 1 << 20  # characters; of a longer one, as archives can hide it, a part is read
_MOST_EMPTY = 1000  # lines of a file
_AGAIN = "Correct the line or fetch the file again."
_UNDECIDED = "-"  # the gold label of SNLI where its annotators found no majority


class Pair(NamedTuple):
    """A row of the table; the label is one of LABELS."""

    premise: str
    hypothesis: str
    label: str


def read_nli(files: Iterable[str], split: Literal["train", "dev"] = "train") -> pd.DataFrame:
    """Read files of inference pairs, one after the other.

    - SNLI as it was released: the archive (`.zip`), of which the member of `split` is read, or a
      member by itself (`.jsonl`; MultiNLI is alike). Pairs without a gold label are left out;
    - SICK, known by the column entailment_judgment of its first line;
    - any other file: lines of premise, hypothesis and 0, 1 or 2 (the place in LABELS), separated by
      tabs.

    Empty lines are passed over.

    Returns:
        The columns premise, hypothesis and label.

    Raises:
        AnalogyQAError: for a line that is not of its file's form (file and line named), for a file
            without a pair, and for an archive without the split.
    """
    pairs: list[Pair] = []
    for path in files:
        before = len(pairs)
        with open_packed(path, f"_{split}.jsonl") as (name, file):
            pairs += _pairs(name, io.TextIOWrapper(file, encoding="utf-8-sig"))
        if len(pairs) == before:
            raise AnalogyQAError(f"{name}: no pair of sentences in it")
    return pd.DataFrame(pairs, columns=Pair._fields)


def _pairs(name: str, file: TextIO) -> Iterator[Pair]:
    header, empty = None, 0
    for number, line in enumerate(iter(partial(file.readline, _LONGEST_LINE), ""), start=1):
        if not line.strip():
            empty += 1
            if empty > _MOST_EMPTY:  # a small archive can unpack to gigabytes of them
                raise AnalogyQAError(f"{name}, line {number}: {empty} empty lines. {_AGAIN}")
            continue
        fields = line.rstrip("\n").split("\t")
        try:
            if name.endswith(".jsonl"):
                pair = _from_json(line)
            elif header:
                pair = _from_sick(fields, header)
            elif number == 1 and _SICK_COLUMNS[-1] in fields:
                header = fields
                continue
            else:
                pair = _from_tabs(fields)
            for text in pair:
                require_text(text)
        except ValueError as error:
            raise AnalogyQAError(f"{name}, line {number}: {error}. {_AGAIN}") from error
        if pair.label != _UNDECIDED:
            yield pair


def _from_json(line: str) -> Pair:
    try:
        record = json.loads(line)
        pair = Pair(record["sentence1"], record["sentence2"], record["gold_label"])
    except (json.JSONDecodeError, RecursionError, TypeError, KeyError) as error:
        raise ValueError(
            f"not a JSON object with gold_label, sentence1 and sentence2 ({error!r})"
        ) from error
    if pair.label not in (*LABELS, _UNDECIDED):
        raise ValueError(f"gold_label {pair.label!r} is none of {', '.join(LABELS)}, -")
    if not isinstance(pair.premise, str) or not isinstance(pair.hypothesis, str):
        raise ValueError("sentence1 and sentence2 must be text")
    return pair


def _from_sick(fields: Sequence[str], header: Sequence[str]) -> Pair:
    if len(fields) != len(header):
        raise ValueError(f"{len(fields)} fields, but the first line has {len(header)}")
    values = dict(zip(header, fields, strict=True))
    if not values.keys() >= set(_SICK_COLUMNS):
        raise ValueError(f"the first line lacks one of {', '.join(_SICK_COLUMNS)}")
    premise, hypothesis, judgment = (values[column] for column in _SICK_COLUMNS)
    if judgment.lower() not in LABELS:
        raise ValueError(f"entailment_judgment {judgment!r} is none of {', '.join(LABELS)}")
    return Pair(premise, hypothesis, judgment.lower())


def _from_tabs(fields: Sequence[str]) -> Pair:
    if are_quoted(fields):
        raise ValueError(f"every field is in double quotes. {WITHOUT_QUOTES}")
    codes = {str(code): label for code, label in enumerate(LABELS)}
    if len(fields) != 3 or fields[2] not in codes:
        raise ValueError("expected premise, hypothesis and 0, 1 or 2, separated by tabs")
    return Pair(fields[0], fields[1], codes[fields[2]])
