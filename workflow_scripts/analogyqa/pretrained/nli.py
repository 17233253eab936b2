"""Read data sets of natural language inference (NLI) into one table."""

import io
import json
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import BinaryIO, Literal, TextIO, cast

import pandas as pd

from analogyqa.corpora.table import WITHOUT_QUOTES, are_quoted
from analogyqa.errors import AnalogyQAError
from analogyqa.text import require_text
from analogyqa.vectors.files import open_packed

LABELS = ("entailment", "neutral", "contradiction")

_SNLI_KEYS = ("sentence1", "sentence2", "gold_label")
_SICK_COLUMNS = ("sentence_A", "sentence_B", "entailment_judgment")
# Limits, because a small archive can unpack to gigabytes of one line or of empty lines.
_MAX_LINE = 1 << 20  # characters read of a line
_MAX_EMPTY = 1000  # empty lines in a file
_REMEDY = "Correct the line, or fetch the file again."
_UNDECIDED = "-"  # SNLI's gold label when its annotators did not agree


Pair = tuple[str, str, str]  # premise, hypothesis and one of LABELS


def read_nli(files: Iterable[str], split: Literal["train", "dev"] = "train") -> pd.DataFrame:
    """Read files of NLI pairs into one table with the columns premise, hypothesis and label.

    A file can be

    - SNLI as released: the archive (`.zip`), from which the split is read, or a file from it
      (`.jsonl`, also of MultiNLI). Pairs without a gold label are skipped;
    - SICK, recognised by the column entailment_judgment in its first line;
    - tab-separated lines of premise, hypothesis and 0, 1 or 2 (the index in LABELS).

    Empty lines are skipped.

    Raises AnalogyQAError for a malformed line, a file without pairs, or an archive without the
    split.
    """
    pairs: list[Pair] = []
    for path in files:
        before = len(pairs)
        with (
            open_packed(path, f"_{split}.jsonl") as (name, file),
            io.TextIOWrapper(cast("BinaryIO", file), encoding="utf-8-sig") as text,
        ):
            pairs += _read_pairs(name, text)
        if len(pairs) == before:
            raise AnalogyQAError(f"{name}: no pair of sentences in this file. Fetch it again.")
    return pd.DataFrame(pairs, columns=["premise", "hypothesis", "label"])


def without_sentences(pairs: pd.DataFrame, texts: Iterable[str]) -> pd.DataFrame:
    """Return the NLI pairs of which neither sentence is among some texts.

    Case, spaces and punctuation make no difference. Raises AnalogyQAError when no pair is left.
    """
    excluded = {_letters(text) for text in texts}
    has_text = pairs[["premise", "hypothesis"]].map(_letters).isin(excluded).any(axis=1)
    if has_text.all():
        raise AnalogyQAError(
            "all pairs of the NLI files have a sentence of the data set in disjoint_from. Train on "
            "other files, or remove disjoint_from."
        )
    return pairs[~has_text].reset_index(drop=True)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.lower()))


def _read_pairs(name: str, file: TextIO) -> Iterator[Pair]:
    header, empty = None, 0
    for number, line in enumerate(iter(partial(file.readline, _MAX_LINE), ""), start=1):
        if not line.strip():
            empty += 1
            if empty > _MAX_EMPTY:
                raise AnalogyQAError(f"{name}, line {number}: {empty} empty lines. {_REMEDY}")
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
            raise AnalogyQAError(f"{name}, line {number}: {error}. {_REMEDY}") from error
        if pair[-1] != _UNDECIDED:
            yield pair


def _from_json(line: str) -> Pair:
    try:
        record = json.loads(line)
        premise, hypothesis, label = (record[key] for key in _SNLI_KEYS)
    except (json.JSONDecodeError, RecursionError, TypeError, KeyError) as error:
        raise ValueError(
            f"not a JSON object with gold_label, sentence1 and sentence2 ({error!r})"
        ) from error
    if label not in (*LABELS, _UNDECIDED):
        raise ValueError(f"gold_label {label!r} is none of {', '.join(LABELS)}, -")
    if not isinstance(premise, str) or not isinstance(hypothesis, str):
        raise ValueError("sentence1 and sentence2 must be text")
    return premise, hypothesis, label


def _from_sick(fields: Sequence[str], header: Sequence[str]) -> Pair:
    if len(fields) != len(header):
        raise ValueError(f"{len(fields)} fields, but the first line has {len(header)}")
    values = dict(zip(header, fields, strict=True))
    if not values.keys() >= set(_SICK_COLUMNS):
        raise ValueError(f"the first line lacks one of {', '.join(_SICK_COLUMNS)}")
    premise, hypothesis, judgment = (values[column] for column in _SICK_COLUMNS)
    if judgment.lower() not in LABELS:
        raise ValueError(f"entailment_judgment {judgment!r} is none of {', '.join(LABELS)}")
    return premise, hypothesis, judgment.lower()


def _from_tabs(fields: Sequence[str]) -> Pair:
    if are_quoted(fields):
        raise ValueError(f"every field is in double quotes. {WITHOUT_QUOTES}")
    if len(fields) != 3 or fields[2] not in ("0", "1", "2"):
        raise ValueError("expected premise, hypothesis and 0, 1 or 2, separated by tabs")
    return fields[0], fields[1], LABELS[int(fields[2])]
