"""Draw the batches of an epoch: quadruples, correct pairs with wrong candidates, or questions.

The batches depend on seed and epoch only, so that a resumed training run sees the same ones.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from analogyqa.analogies.quadruples import draw_wrong, group_questions
from analogyqa.rankers import Quadruples
from analogyqa.settings.systems import Training
from analogyqa.training.data import CellData, split_evenly

NONE = np.zeros(0, dtype=np.int64)


class Batch(NamedTuple):
    """Quadruples of some questions, as positions [n] in their unique sentences.

    `labels` are those of the quadruples, [n]. Without prototypes, a and b are empty.
    """

    sentences: np.ndarray  # numbers, [u]
    a: np.ndarray
    b: np.ndarray
    c: np.ndarray
    d: np.ndarray
    labels: np.ndarray

    def quadruples(self, vectors: Tensor) -> tuple[Quadruples, Tensor]:
        """Return the quadruples and their labels [n] for the vectors of the sentences [u, dim]."""
        *rows, labels = (torch.from_numpy(column).to(vectors.device) for column in self[1:])
        return Quadruples(vectors, *rows), labels.to(vectors.dtype)


def make_batch(data: CellData, rows: np.ndarray, prototypes: np.ndarray = NONE) -> Batch:
    """Make a batch of rows of training pairs [n], and prototypes [n] or none."""
    train = data.splits["train"]
    columns = (
        data.prototype_questions[prototypes],
        data.prototype_candidates[prototypes],
        train.questions[rows],
        train.candidates[rows],
    )
    unique, inverse = np.unique(np.concatenate(columns), return_inverse=True)
    ends = np.cumsum([len(column) for column in columns])[:-1]
    a, b, c, d = np.split(inverse, ends)
    return Batch(unique, a, b, c, d, train.labels[rows])


def quadruple_batches(
    data: CellData, training: Training, seed: int, epoch: int, with_prototypes: bool = True
) -> Iterator[Batch]:
    """Yield the batches of an epoch: all quadruples of questions in random order.

    The questions of a batch have one type, so that a step encodes only the prototypes of that type.
    With `batch_of: quadruples`, the quadruples of the epoch are shuffled instead. With
    `negatives.draw: resampled`, the wrong candidates are redrawn.
    """
    train = data.splits["train"]
    generator = np.random.default_rng([seed, 2, epoch])
    questions = group_questions(train.pairs)
    question_numbers = np.empty(len(train.pairs), dtype=np.int64)
    for number, question in enumerate(questions):
        question_numbers[question.rows] = number
    order = np.argsort(question_numbers[train.rows], kind="stable")
    starts = np.searchsorted(question_numbers[train.rows][order], np.arange(len(questions) + 1))
    by_question = np.split(order, starts[1:-1])
    if training.batch_of == "quadruples":
        chunks = [np.arange(len(questions))]
    else:
        chunks = []
        types = np.array([question.question_type for question in questions])
        for question_type in np.unique(types):
            shuffled = generator.permutation(np.flatnonzero(types == question_type))
            chunks += split_evenly(shuffled, training.batch_size)
    for chunk in generator.permutation(len(chunks)):
        drawn = []
        for number in chunks[chunk]:
            members = by_question[number]
            rows, prototypes = train.rows[members], train.prototypes[members]
            is_wrong = train.labels[rows] == 0
            if training.negatives.draw == "resampled" and is_wrong.any():
                # Wrong quadruples are sorted by prototype, as in the file.
                count = len(np.unique(prototypes[is_wrong]))
                wrong = draw_wrong(questions[number], count, training.negatives, generator)
                rows[is_wrong] = wrong.ravel()
            drawn.append((rows, prototypes))
        rows, prototypes = map(np.concatenate, zip(*drawn, strict=True))
        parts = [np.arange(len(rows))]
        if training.batch_of == "quadruples":
            parts = split_evenly(generator.permutation(len(rows)), training.batch_size)
        for part in parts:
            if len(part):
                yield make_batch(data, rows[part], prototypes[part] if with_prototypes else NONE)


def mixed_batches(
    data: CellData, training: Training, seed: int, epoch: int, with_prototypes: bool = False
) -> Iterator[Batch]:
    """Yield the batches of an epoch: `batch_size` correct pairs in random order, with wrong ones.

    Each correct pair is followed by `negatives.random` wrong candidates of its question, drawn with
    replacement, and then by `negatives.count`, drawn without, among which the objective chooses the
    hardest. A question with fewer wrong candidates has its correct one instead of the missing ones.
    Questions without any are skipped.
    """
    train, negatives = data.splits["train"], training.negatives
    generator = np.random.default_rng([seed, 2, epoch])
    numbers = train.question_numbers
    wrong_rows = np.flatnonzero(train.labels == 0)
    wrong_rows = wrong_rows[np.argsort(numbers[wrong_rows], kind="stable")]
    questions = np.arange(numbers.max(initial=-1) + 2)
    starts = np.searchsorted(numbers[wrong_rows], questions)
    correct = np.flatnonzero(train.labels == 1)
    correct = correct[np.diff(starts)[numbers[correct]] > 0]
    correct = generator.permutation(correct)
    question = numbers[correct, None]
    first, counts = starts[question], np.diff(starts)[question]
    random = generator.integers(first, first + counts, size=(len(correct), negatives.random))
    # A random order of the wrong candidates of each question, and then its correct candidate.
    width = int(max(counts.max(initial=0), negatives.count))
    keys = generator.random((len(correct), width))
    is_missing = np.arange(width) >= counts
    order = np.where(is_missing, np.inf, keys).argsort(axis=1, kind="stable")[:, : negatives.count]
    is_wrong = order < counts
    others = np.where(
        is_wrong, wrong_rows[np.where(is_wrong, first + order, first)], correct[:, None]
    )
    rows = np.concatenate([correct[:, None], wrong_rows[random], others], axis=1)
    for chunk in split_evenly(rows, training.batch_size):
        yield make_batch(data, chunk.ravel())


def all_wrong_batches(
    data: CellData, training: Training, seed: int, epoch: int, with_prototypes: bool = False
) -> Iterator[Batch]:
    """Yield the batches of an epoch: `batch_size` correct pairs in random order, with wrong ones.

    Each correct pair is followed by all wrong candidates of its question in random order. In the
    first epoch, only as many as the objective takes are wrong, so that these are random alone. The
    rest is the correct pair again, so that all epochs have as many pairs for their mean loss.
    Questions without wrong candidates are skipped.
    """
    train, negatives = data.splits["train"], training.negatives
    generator = np.random.default_rng([seed, 2, epoch])
    numbers = train.question_numbers
    rows = np.argsort(numbers, kind="stable")
    by_question = np.split(rows, np.bincount(numbers).cumsum()[:-1])
    wrong = [members[train.labels[members] == 0] for members in by_question]
    correct = [row for row in np.flatnonzero(train.labels == 1) if len(wrong[numbers[row]])]
    for chunk in split_evenly(generator.permutation(correct), training.batch_size):
        drawn: list[np.ndarray] = []
        for row in chunk:
            others = generator.permutation(wrong[numbers[row]])
            if epoch == 1:
                others[negatives.random + negatives.hardest :] = row
            drawn += [row[None], others]
        yield make_batch(data, np.concatenate(drawn))


def listwise_batches(
    data: CellData, training: Training, seed: int, epoch: int, with_prototypes: bool = False
) -> Iterator[Batch]:
    """Yield the batches of an epoch: `batch_size` questions in random order.

    A question comes with all correct candidates and up to `negatives.count` randomly drawn wrong
    ones; questions without wrong candidates are skipped.
    """
    train = data.splits["train"]
    generator = np.random.default_rng([seed, 2, epoch])
    numbers = train.question_numbers
    is_wrong = train.labels == 0
    order = generator.permutation(np.unique(numbers[is_wrong]))
    # Sort by question; within a question, correct candidates precede the shuffled wrong ones.
    rows = np.lexsort((generator.random(len(numbers)), is_wrong, numbers))
    ends = np.bincount(numbers).cumsum()
    correct = np.bincount(numbers, ~is_wrong).astype(int)
    starts = np.r_[0, ends[:-1]]
    ends = np.minimum(ends, starts + correct + training.negatives.count)
    for chunk in split_evenly(order, training.batch_size):
        chunk_rows = np.concatenate([rows[starts[number] : ends[number]] for number in chunk])
        yield make_batch(data, chunk_rows)
