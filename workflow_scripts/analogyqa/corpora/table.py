"""Build the corpus table from the pairs that a reader yields, and count its questions."""

import logging
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from analogyqa.corpora.questions import (
    classify_question,
    count_shared,
    fold_corpus,
    keep_train_share,
)
from analogyqa.corpora.specs import READERS
from analogyqa.errors import AnalogyQAError
from analogyqa.schemas import CORPUS, SPLITS, read_table
from analogyqa.settings.data import ALL, fold_numbers
from analogyqa.text import nfc

log = logging.getLogger(__name__)

Counts = dict[str, dict[str, int]]  # number of questions by split and question type (or ALL)

WITHOUT_QUOTES = "Quotes count as text here. Save the file again without a text delimiter"


class Pair(NamedTuple):
    """A question and one of its candidates.

    `line` is the line of the file it was read from. `part` names a section of the data set, in
    files that hold several. `article` is the text that the candidates are from, in data sets that
    have several questions on one text: folds keep these together.
    """

    line: int
    question_id: str
    question: str
    candidate: str
    label: int
    part: str = ""
    article: str = ""


def are_quoted(fields: Sequence[str]) -> bool:
    """Return whether every field is in double quotes."""
    return all(len(field) > 1 and field[0] == field[-1] == '"' for field in fields)


def clean_id(text: str) -> str:
    """Normalise an id: composed Unicode form, single spaces, no zero-width characters.

    Ids that look the same are then equal.
    """
    if not text.isascii():
        text = nfc("".join(char for char in text if unicodedata.category(char) != "Cf"))
    return " ".join(text.split())


def parse_label(text: str, path: str | Path, line: int) -> int:
    """Return the label, 0 or 1, or raise AnalogyQAError."""
    if text not in ("0", "1"):
        raise AnalogyQAError(f"{path}, line {line}: label {text!r} is neither 0 nor 1.")
    return int(text)


def build_corpus(
    name: str,
    reader_name: str,
    files: Mapping[str, str | Sequence[str]],
    question_types: Mapping[str, Sequence[str]],
    expected: Counts | None = None,
    drop_all_correct: Collection[str] = (),
    parts: Mapping[str, Collection[str]] | None = None,
    options: Mapping[str, object] | None = None,
    fold: str | None = None,
    train_share: float = 1,
) -> pd.DataFrame:
    """Read the splits of a data set into the corpus table.

    Args:
        name: the name of the data set, for messages.
        reader_name: a key of `READERS`.
        files: path of each split, or paths; a `fold` makes all splits from those that are given.
            From a train split of several files, questions whose text is also in dev or test are
            dropped, because releases of several years repeat threads under other ids.
        question_types: first words of each question type.
        expected: expected number of questions by split and type; None for no check.
        drop_all_correct: splits from which to drop questions whose candidates are all correct.
        parts: the parts of its file that make up a split; without an entry, the whole file.
        options: further arguments of the reader, such as the names of columns.
        fold: the fold to test, such as 1of5 or 1of5-partition3; see `fold_corpus`.
        train_share: the share of training questions to keep; see `keep_train_share`.

    Raises:
        AnalogyQAError: when a file is empty or malformed, a question id is repeated in a split, a
            question's text changes between its lines, or the counts differ from `expected`.
    """
    read = partial(READERS[reader_name].load(), **(options or {}))
    paths = {
        split: [given] if isinstance(given, str) else [*given] for split, given in files.items()
    }
    tables = []
    for split in SPLITS:
        question_files: dict[str, str] = {}
        split_parts = (parts or {}).get(split)
        for path in paths.get(split, ()):
            selected = (pair for pair in read(path) if not split_parts or pair.part in split_parts)
            tables.append(_read_pairs(split, path, selected, question_types))
            ids = dict.fromkeys(tables[-1]["question_id"], path)
            for question_id in filter(question_files.get, ids):
                raise AnalogyQAError(
                    f"{path}: the question {question_id} is also in "
                    f"{question_files[question_id]}. Use each id for one question only."
                )
            question_files |= ids
    corpus = pd.concat(tables, ignore_index=True)
    if len(paths.get("train", ())) > 1:
        texts, is_train = corpus["question"].str.casefold(), corpus["split"] == "train"
        is_dropped = is_train & texts.isin(texts[~is_train])
        if is_dropped.any():
            ids = corpus.loc[is_dropped, "question_id"].unique()
            log.warning(
                "%s: %d training questions are also in dev or test and are dropped: %s",
                *(name, len(ids), ", ".join(ids)),
            )
        corpus = corpus[~is_dropped].reset_index(drop=True)
    all_correct = corpus.groupby(["split", "question_id"])["label"].transform("all")
    corpus = corpus[~(all_correct & corpus["split"].isin(drop_all_correct))]
    corpus = corpus.reset_index(drop=True)
    counts = count_questions(corpus)
    for split, by_type in (expected or {}).items():
        for question_type, number in by_type.items():
            if (count := counts[split].get(question_type, 0)) != number:
                raise AnalogyQAError(
                    f"{', '.join(paths[split])}: {count} {question_type} questions in the {split} "
                    f"split of {name}, but the configuration expects {number} "
                    f"(datasets.{name}.questions). Correct the count, or fetch the file again."
                )
    if fold:
        corpus = fold_corpus(corpus, *fold_numbers(fold))
        log.info("test texts that also occur in train or dev: %s", count_shared(corpus))
    return keep_train_share(corpus, train_share)[CORPUS.names]


def count_questions(corpus: pd.DataFrame) -> Counts:
    """Count the questions with a correct candidate, by split and type (Table 2)."""
    answerable = corpus[corpus["label"] == 1].drop_duplicates(["split", "question_id"])
    counts: Counts = {}
    for split in SPLITS:
        types = answerable.loc[answerable["split"] == split, "question_type"]
        counts[split] = {str(name): int(n) for name, n in types.value_counts().items() if n}
        counts[split][ALL] = len(types)
    return counts


def count_corpora(paths: Iterable[str | Path]) -> dict[str, dict[str, Counts]]:
    """Count the contents of corpus tables.

    Returns:
        For each data set (the stem of its file): `questions` with a correct candidate,
        `all_questions`, `pairs`, and `analogies` between two questions of one type.
    """
    counts = {}
    for path in paths:
        corpus = read_table(path, CORPUS)
        kinds: dict[str, Counts] = {"questions": count_questions(corpus)}
        kinds |= {"all_questions": {}, "pairs": {}, "analogies": {}}
        for split, by_type in kinds["questions"].items():
            pairs = corpus[corpus["split"] == split]
            kinds["all_questions"][split] = {ALL: pairs["question_id"].nunique()}
            kinds["pairs"][split] = {ALL: len(pairs)}
            # The unordered pairs of questions of one type.
            analogies = {name: n * (n - 1) // 2 for name, n in by_type.items() if name != ALL}
            kinds["analogies"][split] = analogies | {ALL: sum(analogies.values())}
        counts[Path(path).stem] = kinds
    return counts


def require_types(name: str, counts: Counts, types: Iterable[str]) -> None:
    """Raise AnalogyQAError unless each split of a data set has a question of each type.

    A data set that is only cross-validated has no train split.
    """
    splits = [split for split in SPLITS if counts[split].get(ALL)]
    places = ((kind, split) for kind in types for split in splits)
    if missing := [f"{kind} ({split})" for kind, split in places if not counts[split].get(kind)]:
        raise AnalogyQAError(
            f"data set {name}: no question with a correct candidate of type {', '.join(missing)}. "
            "Remove the subsets of this type (subsets.NAME: null), or add such questions."
        )


def _read_pairs(
    split: str, path: str, pairs: Iterable[Pair], question_types: Mapping[str, Sequence[str]]
) -> pd.DataFrame:
    """Return the pairs of a file as a table with schema CORPUS, and the column `article`."""
    table = pd.DataFrame(pairs, columns=Pair._fields)
    if table.empty:
        raise AnalogyQAError(f"{path}: no questions in this file. Fetch it again.")
    table["question_id"] = table["question_id"].map(clean_id)
    questions = table.groupby("question_id", sort=False)
    position = questions.cumcount()
    first = questions[["line", "question"]].transform("first")
    is_start = table["question_id"] != table["question_id"].shift()
    causes = {
        "the question {0} already ended (it starts at line {1}). Use each id for one question "
        "only.": is_start & (position > 0),
        "the text of question {0} differs from that at line {1}.": table["question"]
        != first["question"],
    }
    for name in ("question_id", "question", "candidate"):
        causes[f"the {name.replace('_', ' ')} is empty."] = ~table[name].map(str.strip).astype(bool)
    for cause, is_wrong in causes.items():
        if is_wrong.any():
            row = is_wrong.idxmax()
            question_id, line = table.loc[row, ["question_id", "line"]]
            message = cause.format(question_id, first.loc[row, "line"])
            raise AnalogyQAError(f"{path}, line {line}: {message}")
    _report_repeated(path, table)
    is_answerable = questions["label"].transform("any")
    types = [
        classify_question(question, question_types) if typed else None
        for question, typed in zip(table["question"], is_answerable, strict=True)
    ]
    ids = table["question_id"] + "-" + position.astype(str)
    table = table.assign(split=split, candidate_id=ids, question_type=types)
    return table[[*CORPUS.names, "article"]]


def _report_repeated(path: str, table: pd.DataFrame) -> None:
    """Warn about candidates that a question lists more than once, as the released data do."""
    by_text = table.groupby(["question_id", "candidate"], sort=False)
    first = by_text[["line", "label"]].transform("first")
    is_repeated = by_text.cumcount() > 0
    if is_repeated.any():
        row = is_repeated.idxmax()
        log.warning(
            "%s: %d candidates repeat one of the same question, %d of them with another label "
            "(first: line %d repeats line %d). All are kept.",
            *(path, is_repeated.sum(), (table["label"] != first["label"]).sum()),
            *(table["line"][row], first["line"][row]),
        )
