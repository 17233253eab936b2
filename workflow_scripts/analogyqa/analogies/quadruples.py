"""Analogy quadruples a : b :: c : d, prototypes against pairs (section 3.2 of the CoNLL paper)."""

import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from analogyqa.errors import AnalogyQAError
from analogyqa.files import atomic_path
from analogyqa.schemas import QUADRUPLES

if TYPE_CHECKING:
    from analogyqa.settings.systems import Negatives

ROWS_PER_GROUP = 1 << 20
ROWS_PER_BLOCK = 1 << 17


class Question(NamedTuple):
    """The rows of one question in a table of pairs: `wrong` and `correct` hold row numbers."""

    kind: str
    question_id: str
    rows: np.ndarray
    correct: np.ndarray
    wrong: np.ndarray


def group_questions(pairs: pd.DataFrame) -> list[Question]:
    """Group a table of pairs by question, in the order of the table."""
    labels = pairs["label"].to_numpy()
    questions = []
    for (kind, question_id), rows in pairs.groupby(
        ["question_type", "question_id"], observed=True, sort=False
    ).indices.items():
        is_correct = labels[rows] == 1
        questions.append(Question(kind, question_id, rows, rows[is_correct], rows[~is_correct]))
    return questions


def training_blocks(
    pairs: pd.DataFrame, prototypes: pd.DataFrame, negatives: "Negatives", seed: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the training quadruples of each question: prototype ranks and pair rows.

    Positive: every prototype of the question's type with every correct pair, but for a prototype
    with itself. Negative: with wrong candidates of the question, drawn at random as `negatives`
    says. A question without wrong candidates gives no negatives.
    """
    candidates = pairs["candidate_id"].to_numpy()
    by_type = {
        kind: (own["rank"].to_numpy(), own["candidate_id"].to_numpy())
        for kind, own in _by_type(prototypes, pairs).items()
    }
    generator = np.random.default_rng([seed, 1])
    for question in group_questions(pairs):
        ranks, ids = by_type[question.kind]
        positives = np.repeat(ranks, len(question.correct)), np.tile(question.correct, len(ranks))
        kept = np.repeat(ids, len(question.correct)) != candidates[positives[1]]
        wrong = draw_wrong(question, len(ranks), negatives, generator)
        yield (
            np.concatenate([positives[0][kept], np.repeat(ranks, wrong.shape[1])]),
            np.concatenate([positives[1][kept], wrong.ravel()]),
        )


def draw_wrong(
    question: Question, prototypes: int, negatives: "Negatives", generator: np.random.Generator
) -> np.ndarray:
    """Draw the wrong candidates that each prototype meets in a question: rows [prototypes, n]."""
    if not len(question.wrong):
        return np.zeros((prototypes, 0), dtype=np.int64)
    if negatives.per == "question":
        return generator.choice(question.wrong, size=(prototypes, negatives.count))
    drawn = generator.choice(question.wrong, size=len(question.correct) * negatives.count)
    return np.tile(drawn, (prototypes, 1))


def evaluation_blocks(
    pairs: pd.DataFrame, prototypes: pd.DataFrame
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield p x k quadruples for each question of k candidates (section 4.2): ranks, pair rows.

    The quadruples of a pair stand together, the pairs of a question as well.
    """
    by_type = _by_type(prototypes, pairs)
    ranks = np.concatenate([own["rank"].to_numpy() for own in by_type.values()])
    counts = np.array([len(own) for own in by_type.values()])
    firsts = np.cumsum(counts) - counts
    kinds = pd.Index(by_type).get_indexer(pairs["question_type"].astype(str))
    order = np.argsort(pd.factorize(pairs["question_id"])[0], kind="stable")
    blocks = math.ceil(counts[kinds].sum() / ROWS_PER_BLOCK)
    for rows in np.array_split(order, min(blocks, len(order))) if blocks else ():
        count = counts[kinds[rows]]
        # Behind the first quadruple of each pair its ranks follow one by one.
        shifts = firsts[kinds[rows]] - (np.cumsum(count) - count)
        yield ranks[np.arange(count.sum()) + np.repeat(shifts, count)], np.repeat(rows, count)


def _by_type(prototypes: pd.DataFrame, pairs: pd.DataFrame) -> dict[str, pd.DataFrame]:
    by_type = dict(list(prototypes.groupby("question_type", observed=True)))
    if missing := set(pairs["question_type"]) - set(by_type):
        raise AnalogyQAError(
            f"no prototypes for the questions of type {', '.join(sorted(missing))}"
        )
    return by_type


def write_quadruples(
    blocks: Iterable[tuple[np.ndarray, np.ndarray]], pairs: pd.DataFrame, path: str | Path
) -> int:
    """Write blocks of (prototype ranks, pair rows) as Parquet and return the number of rows.

    At most `ROWS_PER_GROUP` rows and one block are held in memory.
    """
    question_codes, question_ids = pd.factorize(pairs["question_id"])
    dictionaries = (pa.array(question_ids), pa.array(pairs["candidate_id"]))
    labels = pairs["label"].to_numpy()
    total = 0

    def group(held: list[tuple[np.ndarray, np.ndarray]]) -> pa.Table:
        ranks, rows = (np.concatenate(column) for column in zip(*held, strict=True))
        return pa.table(
            [
                pa.array(ranks, pa.int32()),
                pa.DictionaryArray.from_arrays(
                    pa.array(question_codes[rows], pa.int32()), dictionaries[0]
                ),
                pa.DictionaryArray.from_arrays(pa.array(rows, pa.int32()), dictionaries[1]),
                pa.array(labels[rows], pa.int8()),
            ],
            schema=QUADRUPLES,
        )

    with (
        atomic_path(path) as temporary,
        pq.ParquetWriter(temporary, QUADRUPLES, compression="zstd") as writer,
    ):
        held: list[tuple[np.ndarray, np.ndarray]] = []
        size = 0
        for block in blocks:
            held.append(block)
            size += len(block[0])
            if size >= ROWS_PER_GROUP:
                writer.write_table(group(held))
                held, total, size = [], total + size, 0
        if held:
            writer.write_table(group(held))
    return total + size
