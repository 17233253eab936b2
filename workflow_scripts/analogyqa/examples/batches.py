"""Batch the quadruples of an epoch."""

from collections.abc import Iterator

import numpy as np

from analogyqa.analogies.quadruples import Question, draw_wrong, group_questions
from analogyqa.examples.data import CellData, SplitData, split_evenly
from analogyqa.objectives import Batch
from analogyqa.settings.systems import Training

NONE = np.zeros(0, dtype=np.int64)


def epoch_batches(
    data: CellData, training: Training, seed: int, epoch: int, with_prototypes: bool = True
) -> Iterator[Batch]:
    """Yield the batches of an epoch: all quadruples of questions in random order.

    The questions of a batch have one type, so that a step encodes only the prototypes of that type.
    With `batch_of: quadruples`, the quadruples of the epoch are shuffled instead. With
    `negatives.draw: resampled`, the wrong candidates are redrawn. The batches depend on seed and
    epoch only, so that a resumed training run sees the same ones.
    """
    train = data.splits["train"]
    generator = np.random.default_rng([seed, 2, epoch])
    questions = group_questions(train.pairs)
    question_of = np.empty(len(train.pairs), dtype=np.int64)
    for number, question in enumerate(questions):
        question_of[question.rows] = number
    order = np.argsort(question_of[train.rows], kind="stable")
    starts = np.searchsorted(question_of[train.rows][order], np.arange(len(questions) + 1))
    if training.batch_of == "quadruples":
        chunks = [np.arange(len(questions))]
    else:
        chunks = []
        types = np.array([question.question_type for question in questions])
        for question_type in np.unique(types):
            shuffled = generator.permutation(np.flatnonzero(types == question_type))
            chunks += split_evenly(shuffled, training.batch_size)
    for chunk in generator.permutation(len(chunks)):
        all_rows, all_prototypes = [], []
        for number in chunks[chunk]:
            members = order[starts[number] : starts[number + 1]]
            rows, prototypes = train.rows[members], train.prototypes[members]
            if training.negatives.draw == "resampled":
                rows = _redraw(questions[number], rows, prototypes, train, training, generator)
            all_rows.append(rows)
            all_prototypes.append(prototypes)
        rows, prototypes = np.concatenate(all_rows), np.concatenate(all_prototypes)
        parts = [np.arange(len(rows))]
        if training.batch_of == "quadruples":
            parts = split_evenly(generator.permutation(len(rows)), training.batch_size)
        for part in parts:
            if len(part):
                used = prototypes[part] if with_prototypes else NONE
                yield make_batch(data, rows[part], used)


def _redraw(
    question: Question,
    rows: np.ndarray,
    prototypes: np.ndarray,
    train: SplitData,
    training: Training,
    generator: np.random.Generator,
) -> np.ndarray:
    """Redraw the wrong candidates of a question's quadruples, and return the pair rows.

    Negative quadruples are sorted by prototype, as in the file.
    """
    is_negative = train.labels[rows] == 0
    if not is_negative.any():
        return rows
    count = len(np.unique(prototypes[is_negative]))
    redrawn = rows.copy()
    redrawn[is_negative] = draw_wrong(question, count, training.negatives, generator).ravel()
    return redrawn


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
