"""From what a reader yields to the corpus table."""

import logging
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from analogyqa.corpora.question_types import classify_question
from analogyqa.errors import AnalogyQAError
from analogyqa.registry import READERS
from analogyqa.schemas import CORPUS, SPLITS, read_table
from analogyqa.settings.data import ALL
from analogyqa.text import nfc

log = logging.getLogger(__name__)

# Split to question type, and ALL, to a number of questions.
Counts = dict[str, dict[str, int]]

WITHOUT_QUOTES = "Quotes are part of the text here: save the file again without a text delimiter"


class Pair(NamedTuple):
    """A question and one of its candidates, as found at `line` of a file.

    `part` is the one of a file's parts that it is of, where a file has such.
    """

    line: int
    question_id: str
    question: str
    candidate: str
    label: int
    part: str = ""


def read_lines(path: str | Path) -> Iterator[tuple[int, str]]:
    """Yield (line number, line without its end) of a UTF-8 file, with or without a byte-order mark.

    A line is in Unicode's composed form (NFC). Raises AnalogyQAError that names the line where the
    file is not UTF-8, or has a character that no text has.
    """
    with open(path, "rb") as file:
        for number, raw in enumerate(file, start=1):
            try:
                line = raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
            except UnicodeDecodeError as error:
                raise AnalogyQAError(
                    f"{path}, line {number}: not UTF-8 ({error.reason} at byte {error.start}). "
                    "Convert the file to UTF-8 or fetch it again."
                ) from error
            if "\0" in line:
                raise AnalogyQAError(
                    f"{path}, line {number}: a NUL character. Convert the file to UTF-8 or remove "
                    "it from the text."
                )
            if "\r" in line:
                raise AnalogyQAError(
                    f"{path}, line {number}: a carriage return inside the line. End the lines with "
                    "line feeds (from a spreadsheet: save the file with Windows or Unix line ends)."
                )
            yield number, nfc(line)


def read_columns(
    path: str | Path, columns: tuple[str, ...], kind: str
) -> Iterator[tuple[int, list[str]]]:
    """Yield (line number, the fields of `columns`) of a tab-separated file with a header.

    Quotes are literal and further columns are passed over. Raises AnalogyQAError, naming the line,
    for a column that is missing or there twice, a header in double quotes, or a row of another
    width than the header; `kind` is for the message.
    """
    lines = read_lines(path)
    _, header = next(lines, (0, ""))
    names = header.split("\t")
    if are_quoted(names):
        raise AnalogyQAError(
            f"{path}, line 1: the names of the columns are in double quotes, as a spreadsheet "
            f"writes them. {WITHOUT_QUOTES}."
        )
    if missing := [column for column in columns if column not in names]:
        raise AnalogyQAError(
            f"{path}, line 1: no column {', '.join(missing)} in the header; "
            f"{kind} has {', '.join(columns)}"
        )
    if repeated := [column for column in columns if names.count(column) > 1]:
        raise AnalogyQAError(
            f"{path}, line 1: the header has the column {', '.join(repeated)} more than once. "
            "Remove or rename all but one."
        )
    places = [names.index(column) for column in columns]
    for number, line in lines:
        fields = line.split("\t")
        if len(fields) != len(names):
            raise AnalogyQAError(
                f"{path}, line {number}: {len(fields)} fields, the header has {len(names)}. Remove "
                "an empty line or a tab within a text, or fetch the file again."
            )
        yield number, [fields[place] for place in places]


def are_quoted(fields: Sequence[str]) -> bool:
    """Return whether every field is in double quotes."""
    return all(len(field) > 1 and field[0] == field[-1] == '"' for field in fields)


def clean_id(text: str) -> str:
    """Return an id in Unicode's composed form, with single spaces inside and none around it.

    Characters without a width are removed, so that ids that look the same are the same.
    """
    if not text.isascii():
        text = nfc("".join(char for char in text if unicodedata.category(char) != "Cf"))
    return " ".join(text.split())


def parse_label(text: str, path: str | Path, line: int) -> int:
    """Return 0 or 1; raises AnalogyQAError for anything else."""
    if text not in ("0", "1"):
        raise AnalogyQAError(f"{path}, line {line}: label {text!r} is neither 0 nor 1")
    return int(text)


def build_corpus(
    name: str,
    reader_name: str,
    files: Mapping[str, str],
    question_types: Mapping[str, Sequence[str]],
    expected: Counts,
    drop_all_correct: Collection[str] = (),
    parts: Mapping[str, Collection[str]] | None = None,
) -> pd.DataFrame:
    """Read the splits of a data set into the corpus table.

    Args:
        name: the data set, for messages.
        reader_name: a key of `READERS`.
        files: split to path.
        question_types: type to the first words that make it.
        expected: split to question type to the number of questions there must be; a data set
            that declares none is not checked.
        drop_all_correct: splits whose questions are left out where all candidates are correct.
        parts: split to the parts of its file that make it; a split that has none is a whole file.

    Raises:
        AnalogyQAError: when a file is empty or malformed, a question comes twice, its text
            changes on the way, or the counts differ from `expected`.
    """
    read = READERS[reader_name].load()
    tables = []
    for split in SPLITS:
        own, pairs = (parts or {}).get(split), read(files[split])
        wanted = (pair for pair in pairs if not own or pair.part in own)
        tables.append(_split_table(split, files[split], wanted, question_types))
    corpus = pd.concat(tables, ignore_index=True)
    all_correct = corpus.groupby(["split", "question_id"])["label"].transform("all")
    corpus = corpus[~(all_correct & corpus["split"].isin(drop_all_correct))]
    corpus = corpus.reset_index(drop=True)
    for split, counts in expected.items():
        found = count_questions(corpus)[split]
        for kind, count in counts.items():
            if (there := found.get(kind, 0)) != count:
                raise AnalogyQAError(
                    f"{files[split]}: {there} {kind} questions in the {split} split of {name}, the "
                    f"configuration expects {count} (datasets.{name}.questions). "
                    "Correct the count or fetch the file again."
                )
    return corpus


def count_questions(corpus: pd.DataFrame) -> Counts:
    """Count the questions that have a correct candidate, of each type and of all (Table 2)."""
    answerable = corpus[corpus["label"] == 1].drop_duplicates(["split", "question_id"])
    counts: Counts = {}
    for split in SPLITS:
        own = answerable.loc[answerable["split"] == split, "question_type"]
        counts[split] = {str(kind): int(n) for kind, n in own.value_counts().items() if n}
        counts[split][ALL] = len(own)
    return counts


def count_corpora(paths: Iterable[str]) -> dict[str, dict[str, Counts]]:
    """Count corpus tables: data set, by the name of the file, to what is counted to its counts.

    `questions` as `count_questions` does; `all_questions`, whether answerable or not, and `pairs`
    of all types together.
    """
    return {Path(path).stem: _count(read_table(path, CORPUS)) for path in paths}


def _count(corpus: pd.DataFrame) -> dict[str, Counts]:
    by_split = {split: corpus[corpus["split"] == split] for split in SPLITS}
    return {
        "questions": count_questions(corpus),
        "all_questions": {
            split: {ALL: own["question_id"].nunique()} for split, own in by_split.items()
        },
        "pairs": {split: {ALL: len(own)} for split, own in by_split.items()},
        "analogies": _count_analogies(count_questions(corpus)),
    }


def _count_analogies(questions: Counts) -> Counts:
    """Count the unordered couples of questions of one type."""
    counts: Counts = {}
    for split, of_type in questions.items():
        counts[split] = {kind: n * (n - 1) // 2 for kind, n in of_type.items() if kind != ALL}
        counts[split][ALL] = sum(counts[split].values())
    return counts


def require_types(name: str, counts: Counts, types: Iterable[str]) -> None:
    """Raise AnalogyQAError for types of which a split of a data set has no question."""
    missing = [
        f"{kind} ({split})" for kind in types for split in SPLITS if not counts[split].get(kind)
    ]
    if missing:
        raise AnalogyQAError(
            f"data set {name}: no question with a correct candidate of type {', '.join(missing)}. "
            "Leave the subsets of this type out (subsets.NAME: null), or add such questions."
        )


def _split_table(
    split: str,
    path: str | Path,
    pairs: Iterable[Pair],
    question_types: Mapping[str, Sequence[str]],
) -> pd.DataFrame:
    questions: dict[str, list[Pair]] = {}
    previous = None
    for pair in pairs:
        pair = pair._replace(question_id=clean_id(pair.question_id))
        seen = questions.setdefault(pair.question_id, [])
        if seen and pair.question_id != previous:
            raise AnalogyQAError(
                f"{path}, line {pair.line}: the question {pair.question_id} was complete already "
                f"(first at line {seen[0].line}); ids must be unique"
            )
        if seen and pair.question != seen[0].question:
            raise AnalogyQAError(
                f"{path}, line {pair.line}: the question {pair.question_id} has another text "
                f"than at line {seen[0].line}"
            )
        if not pair.question_id:
            raise AnalogyQAError(f"{path}, line {pair.line}: an empty question id")
        if not pair.question.strip():
            raise AnalogyQAError(f"{path}, line {pair.line}: an empty question")
        if not pair.candidate.strip():
            raise AnalogyQAError(f"{path}, line {pair.line}: an empty candidate")
        seen.append(pair)
        previous = pair.question_id
    if not questions:
        raise AnalogyQAError(f"{path}: no questions in this file. Fetch it again.")
    _report_repeated(path, questions)
    rows = []
    for question_id, group in questions.items():
        answerable = any(pair.label for pair in group)
        kind = classify_question(group[0].question, question_types) if answerable else None
        rows += [
            (split, question_id, pair.question, f"{question_id}-{index}", pair.candidate,
             pair.label, kind)
            for index, pair in enumerate(group)
        ]  # fmt: skip
    return pd.DataFrame(rows, columns=CORPUS.names)


def _report_repeated(path: str | Path, questions: dict[str, list[Pair]]) -> None:
    """Warn of candidates that a question has more than once; the released data have some."""
    repeated = []
    for group in questions.values():
        first: dict[str, Pair] = {}
        for pair in group:
            before = first.setdefault(pair.candidate, pair)
            if before is not pair:
                repeated.append((pair, before))
    if not repeated:
        return
    contrary = sum(pair.label != before.label for pair, before in repeated)
    pair, before = repeated[0]
    log.warning(
        "%s: repeated candidates of a question: %d, with another label: %d (the first in line %d, "
        "as in line %d). All are kept.",
        *(path, len(repeated), contrary, pair.line, before.line),
    )
