"""Files of natural language inference, as a table of premise, hypothesis and label."""

import io
import json
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain
from typing import Literal, NamedTuple, TextIO

import pandas as pd

from analogyqa.errors import AnalogyQAError
from analogyqa.files import DAMAGED_ARCHIVE

LABELS = ("entailment", "neutral", "contradiction")

_SICK_COLUMNS = ("sentence_A", "sentence_B", "entailment_judgment")
_LONGEST_LINE = 1 << 20  # characters; of a longer one, as archives can hide it, a part is read
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

    Returns:
        The columns premise, hypothesis and label.

    Raises:
        AnalogyQAError: for a line that is not of its file's form (file and line named), for a file
            without a pair, and for an archive without the split.
    """
    pairs: list[Pair] = []
    for path in files:
        before = len(pairs)
        with _opened(path, split) as (name, file):
            pairs += _pairs(name, file)
        if len(pairs) == before:
            raise AnalogyQAError(f"{name}: no pair of sentences in it")
    return pd.DataFrame(pairs, columns=Pair._fields)


@contextmanager
def _opened(path: str, split: str) -> Iterator[tuple[str, TextIO]]:
    """Open a file, or the member of a split in an archive; its name is for messages."""
    try:
        if path.endswith(".zip"):
            with zipfile.ZipFile(path) as archive:
                member = _member_of(path, archive, split)
                with archive.open(member) as raw:
                    yield f"{path}, {member}", io.TextIOWrapper(raw, encoding="utf-8")
        else:
            with open(path, encoding="utf-8") as file:
                yield path, file
    except (OSError, *DAMAGED_ARCHIVE) as error:
        raise AnalogyQAError(f"{path}: damaged, or of another format ({error})") from error


def _member_of(path: str, archive: zipfile.ZipFile, split: str) -> str:
    for name in archive.namelist():
        # The released archive holds what macOS keeps about each file, under its name, as well.
        if name.endswith(f"_{split}.jsonl") and not name.startswith("__MACOSX/"):
            return name
    raise AnalogyQAError(
        f"{path}: no member of this archive ends in _{split}.jsonl. Name SNLI's archive as it was "
        "released."
    )


def _pairs(name: str, file: TextIO) -> Iterator[Pair]:
    jsonl = name.endswith(".jsonl")
    lines = iter(partial(file.readline, _LONGEST_LINE), "")
    header = [] if jsonl else next(lines, "").rstrip("\n").split("\t")
    sick = _SICK_COLUMNS[-1] in header
    lines = lines if jsonl or sick else chain(["\t".join(header)], lines)
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
    except (json.JSONDecodeError, RecursionError, TypeError, KeyError) as error:
        raise ValueError(
            f"not a JSON object with gold_label, sentence1 and sentence2 ({error!r})"
        ) from error
    if pair.label not in (*LABELS, _UNDECIDED):
        raise ValueError(f"gold_label {pair.label!r} is none of {', '.join(LABELS)}, -")
    if not isinstance(pair.premise, str) or not isinstance(pair.hypothesis, str):
        raise ValueError("sentence1 and sentence2 must be text")
    "".join(pair).encode()  # JSON can escape half of a character
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
