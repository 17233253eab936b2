"""Pairs of sentences that stand in a relation: a file for each, and the corpus of several."""

import logging
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from analogyqa.corpora.table import WITHOUT_QUOTES, are_quoted, read_lines
from analogyqa.errors import AnalogyQAError
from analogyqa.schemas import CORPUS, read_table
from analogyqa.schemas.analogies import ANALOGIES

log = logging.getLogger(__name__)

SPLIT = "test"  # nothing is trained on them


class Relation(NamedTuple):
    """A pair of a relation; `distractors` are none where all sentences are candidates."""

    pair_id: str
    first: str
    second: str
    distractors: list[str]


def read(path: str | Path) -> Iterator[Relation]:
    """Yield the pairs of a file: a table that was made here, or lines of two columns.

    Columns are separated by tabs; lines that are empty are passed over. Raises AnalogyQAError,
    naming the line, for another number of columns or an empty one.
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
                "with text; a pair is two sentences with a tab between them"
            )
        yield Relation(f"{number:04d}", *fields, [])


def _require_no_quotes(path: str | Path, pairs: list[Relation]) -> None:
    if pairs and all(are_quoted([pair.first, pair.second]) for pair in pairs):
        raise AnalogyQAError(
            f"{path}: every sentence is in double quotes, as a spreadsheet writes them. "
            f"{WITHOUT_QUOTES}."
        )


def _report_repeated(path: str | Path, pairs: list[Relation]) -> None:
    """Warn of pairs that come more than once; their analogies are solved as often."""
    first: dict[tuple[str, str], str] = {}
    repeated = [
        (pair.pair_id, before)
        for pair in pairs
        if (before := first.setdefault((pair.first, pair.second), pair.pair_id)) != pair.pair_id
    ]
    if repeated:
        log.warning(
            "%s: repeated pairs: %d (the first is %s, the same as %s). All are kept; remove those "
            "that are not meant.",
            *(path, len(repeated), *repeated[0]),
        )


def relations_corpus(files: Mapping[str, str | Path]) -> pd.DataFrame:
    """Return the pairs of several relations as a table of schema CORPUS.

    A pair is a question, its first sentence, with the second one as its right candidate and the
    distractors as wrong ones; the relation is its type.

    Args:
        files: category to its file.

    Pairs that come more than once are kept, and reported. Raises AnalogyQAError as `read`, for a
    file whose sentences are all in double quotes, and for a category of fewer than three pairs:
    with two there is one analogy, which asks for one of them only.
    """
    rows = []
    for category, path in files.items():
        pairs = list(read(path))
        if len(pairs) < 3:
            raise AnalogyQAError(
                f"{path}: {len(pairs)} pairs; a category needs three, so that each is asked for by "
                "another; add pairs, or take the category out of the data set"
            )
        _require_no_quotes(path, pairs)
        _report_repeated(path, pairs)
        for pair in pairs:
            question_id = f"{category}/{pair.pair_id}"
            rows += [
                (
                    SPLIT,
                    question_id,
                    pair.first,
                    f"{question_id}-{place}",
                    text,
                    place == 0,
                    category,
                )
                for place, text in enumerate([pair.second, *pair.distractors])
            ]
    return pd.DataFrame(rows, columns=CORPUS.names).astype({"label": "int8"})


def review_page(pairs: Mapping[str, list[Relation]], count: int = 100) -> str:
    """Return a page with up to `count` pairs of each relation, evenly drawn, to be read."""
    parts = []
    for title, own in pairs.items():
        places = sorted({place * len(own) // count for place in range(count)})
        lines = [f"# {title}: {len(places)} of {len(own)} pairs", ""]
        for number, place in enumerate(places, start=1):
            pair = own[place]
            lines.append(f"{number}. {pair.first} | {pair.second}")
            lines += [f"   - {text}" for text in pair.distractors]
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"
