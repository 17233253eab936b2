"""Files of sentence pairs that share a relation, and the corpus made of several of them."""

import logging
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from analogyqa.corpora.table import WITHOUT_QUOTES, are_quoted
from analogyqa.errors import AnalogyQAError
from analogyqa.files import read_lines
from analogyqa.schemas import ANALOGIES, CORPUS, read_table

log = logging.getLogger(__name__)

SPLIT = "test"  # systems are only evaluated on these pairs


COLUMNS = ["pair_id", "first", "second", "distractors"]


def read(path: str | Path) -> pd.DataFrame:
    """Return the pairs of a Parquet table with schema ANALOGIES, or of tab-separated lines.

    Empty lines are skipped.

    Returns:
        A table with the columns COLUMNS; `distractors` is empty where all sentences of the relation
        compete.

    Raises:
        AnalogyQAError: for a line that does not have exactly two sentences.
    """
    if Path(path).suffix == ".parquet":
        return read_table(path, ANALOGIES)[COLUMNS]
    rows = []
    for number, line in read_lines(path):
        if not line.strip():
            continue
        fields = [" ".join(field.split()) for field in line.split("\t")]
        if len(fields) != 2 or not all(fields):
            raise AnalogyQAError(
                f"{path}, line {number}: {len(fields)} columns, {sum(map(bool, fields))} of them "
                "with text. Write two sentences with a tab between them."
            )
        rows.append((f"{number:04d}", *fields, []))
    return pd.DataFrame(rows, columns=COLUMNS)


def relations_corpus(files: Mapping[str, str | Path]) -> pd.DataFrame:
    """Return the pairs of several relations as a table with schema CORPUS.

    The first sentence of a pair becomes the question, the second its correct candidate, the
    distractors its wrong candidates, and the category, a key of `files`, its question type.
    Repeated pairs are kept and reported, because their analogies count more than once.

    Raises:
        AnalogyQAError: for a malformed or quoted file, and for a category with fewer than three
            pairs: two pairs form one analogy, which asks for only one of them.
    """
    rows = []
    for category, path in files.items():
        pairs = read(path)
        if len(pairs) < 3:
            raise AnalogyQAError(
                f"{path}: {len(pairs)} pairs, but a category needs at least three. Add pairs, or "
                "remove the category from the data set."
            )
        if are_quoted([*pairs["first"], *pairs["second"]]):
            raise AnalogyQAError(
                f"{path}: every sentence is in double quotes, as spreadsheets write them. "
                f"{WITHOUT_QUOTES}."
            )
        first_ids = pairs.groupby(["first", "second"])["pair_id"].transform("first")
        repeated = pairs[pairs["pair_id"] != first_ids]
        if len(repeated):
            log.warning(
                "%s: %d pairs repeat another one (first: %s repeats %s). All are kept; remove "
                "those that you did not intend.",
                *(path, len(repeated), repeated["pair_id"].iloc[0], first_ids[repeated.index[0]]),
            )
        for pair in pairs.itertuples():
            question = SPLIT, f"{category}/{pair.pair_id}", pair.first
            for index, text in enumerate([pair.second, *pair.distractors]):
                candidate = f"{category}/{pair.pair_id}-{index}", text, index == 0
                rows.append((*question, *candidate, category))
    return pd.DataFrame(rows, columns=CORPUS.names).astype({"label": "int8"})


def review_page(relations: Mapping[str, pd.DataFrame], count: int = 100) -> str:
    """Return a Markdown page with up to `count` evenly spaced pairs of each relation to review."""
    sections = []
    for title, pairs in relations.items():
        rows = sorted({index * len(pairs) // count for index in range(count)})
        lines = [f"# {title}: {len(rows)} of {len(pairs)} pairs", ""]
        for number, pair in enumerate(pairs.iloc[rows].itertuples(), start=1):
            lines.append(f"{number}. {pair.first} | {pair.second}")
            lines += [f"   - {text}" for text in pair.distractors]
        sections.append("\n".join(lines))
    return "\n\n".join(sections) + "\n"
