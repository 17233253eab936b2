"""The quadruples of an epoch, in batches."""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from analogyqa.analogies.quadruples import Question, draw_wrong, group_questions
from analogyqa.examples.data import CellData, SplitData

if TYPE_CHECKING:
    from analogyqa.settings.systems import Training


class Batch(NamedTuple):
    """Quadruples of a few questions, over the sentences that they share.

    `sentences` [u] are unique sentence numbers; a, b, c, d [n] point into them. Without prototypes
    a and b are empty.
    """

    sentences: np.ndarray
    a: np.ndarray
    b: np.ndarray
    c: np.ndarray
    d: np.ndarray
    labels: np.ndarray


def epoch_batches(
    data: CellData, training: "Training", seed: int, epoch: int, with_prototypes: bool = True
) -> Iterator[Batch]:
    """Yield the batches of an epoch: questions in random order, all quadruples of each.

    A batch holds questions of one type, so that a step encodes the prototypes of that type only.
    With `negatives.draw: resampled` the wrong candidates are drawn anew. Everything follows from
    seed and epoch, so that a resumed training sees what an uninterrupted one would.
    """
    part = data.splits["train"]
    generator = np.random.default_rng([seed, 2, epoch])
    questions = group_questions(part.pairs)
    question_of = np.empty(len(part.pairs), dtype=np.int64)
    for number, question in enumerate(questions):
        question_of[question.rows] = number
    order = np.argsort(question_of[part.rows], kind="stable")
    starts = np.searchsorted(question_of[part.rows][order], np.arange(len(questions) + 1))
    kinds = np.array([question.kind for question in questions])
    chunks = []
    for kind in np.unique(kinds):
        shuffled = generator.permutation(np.flatnonzero(kinds == kind))
        chunks += np.array_split(shuffled, math.ceil(len(shuffled) / training.batch_size))
    for chunk in generator.permutation(len(chunks)):
        rows, prototypes = [], []
        for number in chunks[chunk]:
            members = order[starts[number] : starts[number + 1]]
            own_rows, own_prototypes = part.rows[members], part.prototypes[members]
            if training.negatives.draw == "resampled":
                own_rows = _redraw(
                    questions[number], own_rows, own_prototypes, part, training, generator
                )
            rows.append(own_rows)
            prototypes.append(own_prototypes)
        if sum(map(len, rows)):
            chosen = np.concatenate(prototypes) if with_prototypes else np.zeros(0, dtype=np.int64)
            yield make_batch(data, np.concatenate(rows), chosen)


def _redraw(
    question: Question,
    rows: np.ndarray,
    prototypes: np.ndarray,
    part: SplitData,
    training: "Training",
    generator: np.random.Generator,
) -> np.ndarray:
    """Return the pair rows of a question's quadruples with its wrong candidates drawn anew.

    The Parquet holds the negatives of one prototype after the other.
    """
    negative = part.labels[rows] == 0
    if not negative.any():
        return rows
    count = len(np.unique(prototypes[negative]))
    redrawn = rows.copy()
    redrawn[negative] = draw_wrong(question, count, training.negatives, generator).ravel()
    return redrawn


def make_batch(data: CellData, rows: np.ndarray, prototypes: np.ndarray) -> Batch:
    """Return training pairs, by their rows [n], with prototypes [n], or none, as a batch."""
    part = data.splits["train"]
    columns = (
        data.prototype_questions[prototypes],
        data.prototype_candidates[prototypes],
        part.questions[rows],
        part.candidates[rows],
    )
    unique, inverse = np.unique(np.concatenate(columns), return_inverse=True)
    ends = np.cumsum([len(column) for column in columns])[:-1]
    return Batch(unique, *np.split(inverse, ends), part.labels[rows])
