"""Build analogy quadruples a : b :: c : d of prototypes and pairs (CoNLL paper, section 3.2)."""

import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from analogyqa.errors import AnalogyQAError
from analogyqa.files import atomic_path
from analogyqa.schemas import QUADRUPLES
from analogyqa.settings.systems import Negatives

ROWS_PER_GROUP = 1 << 20
ROWS_PER_BLOCK = 1 << 17


class Question(NamedTuple):
    """Row numbers of a question in a table of pairs: all, and by label."""

    question_type: str
    question_id: str
    rows: np.ndarray
    correct: np.ndarray
    wrong: np.ndarray


def group_questions(pairs: pd.DataFrame) -> list[Question]:
    """Group a table of pairs by question, in the order of the table."""
    labels = pairs["label"].to_numpy()
    questions = []
    groups = pairs.groupby(["question_type", "question_id"], observed=True, sort=False)
    for (question_type, question_id), rows in groups.indices.items():
        correct, wrong = rows[labels[rows] == 1], rows[labels[rows] != 1]
        questions.append(Question(question_type, question_id, rows, correct, wrong))
    return questions


def training_blocks(
    pairs: pd.DataFrame, prototypes: pd.DataFrame, negatives: Negatives, seed: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the training quadruples of each question, as prototype ranks and pair rows.

    Positive quadruples combine every prototype of the question's type with every correct pair,
    except itself. Negative quadruples combine prototypes with randomly drawn wrong candidates of
    the question, if it has any.
    """
    candidate_ids = pairs["candidate_id"].to_numpy()
    by_type = {
        question_type: (typed["rank"].to_numpy(), typed["candidate_id"].to_numpy())
        for question_type, typed in _group_by_type(prototypes, pairs).items()
    }
    generator = np.random.default_rng([seed, 1])
    for question in group_questions(pairs):
        ranks, prototype_ids = by_type[question.question_type]
        correct = question.correct
        positive_ranks, positive_rows = np.repeat(ranks, len(correct)), np.tile(correct, len(ranks))
        is_other = np.repeat(prototype_ids, len(correct)) != candidate_ids[positive_rows]
        wrong = draw_wrong(question, len(ranks), negatives, generator)
        yield (
            np.concatenate([positive_ranks[is_other], np.repeat(ranks, wrong.shape[1])]),
            np.concatenate([positive_rows[is_other], wrong.ravel()]),
        )


def draw_wrong(
    question: Question, prototypes: int, negatives: Negatives, generator: np.random.Generator
) -> np.ndarray:
    """Draw the wrong candidates of a question for each prototype: rows [prototypes, n].

    With `negatives.per: question`, each prototype gets `count` draws of its own. With `pair`, all
    prototypes share `count` draws for each correct candidate.
    """
    if not len(question.wrong):
        return np.zeros((prototypes, 0), dtype=np.int64)
    if negatives.per == "question":
        return generator.choice(question.wrong, size=(prototypes, negatives.count))
    drawn = generator.choice(question.wrong, size=len(question.correct) * negatives.count)
    return np.tile(drawn, (prototypes, 1))


def evaluation_blocks(
    pairs: pd.DataFrame, prototypes: pd.DataFrame
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield blocks of evaluation quadruples (section 4.2), as prototype ranks and pair rows.

    A question with k candidates has p x k quadruples. Those of a pair, and the pairs of a question,
    are contiguous.
    """
    by_type = _group_by_type(prototypes, pairs)
    ranks = np.concatenate([typed["rank"].to_numpy() for typed in by_type.values()])
    counts = np.array([len(typed) for typed in by_type.values()])
    starts = np.cumsum(counts) - counts
    type_codes = pd.Index(by_type).get_indexer(pairs["question_type"].astype(str))
    order = np.argsort(pd.factorize(pairs["question_id"])[0], kind="stable")
    blocks = math.ceil(counts[type_codes].sum() / ROWS_PER_BLOCK)
    for rows in np.array_split(order, min(blocks, len(order))) if blocks else ():
        count = counts[type_codes[rows]]
        # Quadruple i of a pair has the i-th rank of the pair's type.
        shifts = starts[type_codes[rows]] - (np.cumsum(count) - count)
        yield ranks[np.arange(count.sum()) + np.repeat(shifts, count)], np.repeat(rows, count)


def _group_by_type(prototypes: pd.DataFrame, pairs: pd.DataFrame) -> dict[str, pd.DataFrame]:
    by_type = dict(list(prototypes.groupby("question_type", observed=True)))
    if missing := set(pairs["question_type"]) - set(by_type):
        raise AnalogyQAError(f"No prototypes for questions of type {', '.join(sorted(missing))}.")
    return by_type


def write_quadruples(
    blocks: Iterable[tuple[np.ndarray, np.ndarray]], pairs: pd.DataFrame, path: str | Path
) -> None:
    """Write quadruples as Parquet, from blocks of prototype ranks and rows of `pairs`.

    At most ROWS_PER_GROUP rows and one block are in memory at a time.
    """
    names = ("question_id", "candidate_id")
    by_pair = [pa.array(pairs[name].astype(object)).dictionary_encode() for name in names]
    by_pair.append(pa.array(pairs["label"], pa.int8()))

    def row_group(buffer: list[tuple[np.ndarray, np.ndarray]]) -> pa.Table:
        ranks, rows = (np.concatenate(column) for column in zip(*buffer, strict=True))
        columns = [
            pa.array(ranks, pa.int32()),
            *(column.take(pa.array(rows)) for column in by_pair),
        ]
        return pa.table(columns, schema=QUADRUPLES)

    with (
        atomic_path(path) as temporary,
        pq.ParquetWriter(temporary, QUADRUPLES, compression="zstd") as writer,
    ):
        buffer: list[tuple[np.ndarray, np.ndarray]] = []
        size = 0
        for block in blocks:
            buffer.append(block)
            size += len(block[0])
            if size >= ROWS_PER_GROUP:
                writer.write_table(row_group(buffer))
                buffer, size = [], 0
        if buffer:
            writer.write_table(row_group(buffer))
