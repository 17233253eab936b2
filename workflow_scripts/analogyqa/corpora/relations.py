"""Files of sentence pairs that share a relation, and the corpus made of several of them."""

import logging
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from analogyqa.corpora.table import WITHOUT_QUOTES, are_quoted
from analogyqa.errors import AnalogyQAError
from analogyqa.files import read_lines
from analogyqa.schemas import ANALOGIES, CORPUS, read_table

log = logging.getLogger(__name__)

SPLIT = "test"  # systems are only evaluated on these pairs


class Relation(NamedTuple):
    """A sentence pair; `distractors` is empty where all sentences of the relation compete."""

    pair_id: str
    first: str
    second: str
    distractors: list[str]


def read(path: str | Path) -> Iterator[Relation]:
    """Yield the pairs of a Parquet table with schema ANALOGIES, or of tab-separated lines.

    Empty lines are skipped.

    Raises:
        AnalogyQAError: for a line that does not have exactly two sentences.
    """
    if Path(path).suffix == ".parquet":
        for row in read_table(path, ANALOGIES).itertuples():
            yield Relation(row.pair_id, row.first, row.second, list(row.distractors))
        return
    for number, line in read_lines(path):
        if not line.strip():
            continue
        fields = [" ".join(field.split()) for field in line.split("\t")]
        if len(fields) != 2 or not all(fields):
            raise AnalogyQAError(
                f"{path}, line {number}: {len(fields)} columns, {sum(map(bool, fields))} of them "
                "with text. Write two sentences with a tab between them."
            )
        first, second = fields
        yield Relation(f"{number:04d}", first, second, [])


def _report_repeated(path: str | Path, pairs: list[Relation]) -> None:
    """Warn about repeated pairs, because their analogies count more than once."""
    first_ids: dict[tuple[str, str], str] = {}
    repeated = [
        (pair.pair_id, first_id)
        for pair in pairs
        if (first_id := first_ids.setdefault(pair[1:3], pair.pair_id)) != pair.pair_id
    ]
    if repeated:
        log.warning(
            "%s: %d pairs repeat another one (first: %s repeats %s). All are kept; remove those "
            "that you did not intend.",
            *(path, len(repeated), *repeated[0]),
        )


def relations_corpus(files: Mapping[str, str | Path]) -> pd.DataFrame:
    """Return the pairs of several relations as a table with schema CORPUS.

    The first sentence of a pair becomes the question, the second its correct candidate, the
    distractors its wrong candidates, and the category its question type. Repeated pairs are kept
    and reported.

    Args:
        files: the file of each category.

    Raises:
        AnalogyQAError: for a malformed or quoted file, and for a category with fewer than three
            pairs: two pairs form one analogy, which asks for only one of them.
    """
    rows = []
    for category, path in files.items():
        pairs = list(read(path))
        if len(pairs) < 3:
            raise AnalogyQAError(
                f"{path}: {len(pairs)} pairs, but a category needs at least three. Add pairs, or "
                "remove the category from the data set."
            )
        if all(are_quoted([pair.first, pair.second]) for pair in pairs):
            raise AnalogyQAError(
                f"{path}: every sentence is in double quotes, as spreadsheets write them. "
                f"{WITHOUT_QUOTES}."
            )
        _report_repeated(path, pairs)
        for pair in pairs:
            question = SPLIT, f"{category}/{pair.pair_id}", pair.first
            for index, text in enumerate([pair.second, *pair.distractors]):
                candidate = f"{category}/{pair.pair_id}-{index}", text, index == 0
                rows.append((*question, *candidate, category))
    return pd.DataFrame(rows, columns=CORPUS.names).astype({"label": "int8"})


def review_page(relations: Mapping[str, list[Relation]], count: int = 100) -> str:
    """Return a Markdown page with up to `count` evenly spaced pairs of each relation to review."""
    sections = []
    for title, pairs in relations.items():
        rows = sorted({index * len(pairs) // count for index in range(count)})
        lines = [f"# {title}: {len(rows)} of {len(pairs)} pairs", ""]
        for number, row in enumerate(rows, start=1):
            lines.append(f"{number}. {pairs[row].first} | {pairs[row].second}")
            lines += [f"   - {text}" for text in pairs[row].distractors]
        sections.append("\n".join(lines))
    return "\n\n".join(sections) + "\n"
