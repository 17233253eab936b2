"""Batch the questions of an epoch with their candidates."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from analogyqa.examples.batches import make_batch
from analogyqa.examples.data import CellData, split_evenly
from analogyqa.objectives import Batch
from analogyqa.settings.systems import Training


def epoch_batches(
    data: CellData, training: Training, seed: int, epoch: int, with_prototypes: bool = False
) -> Iterator[Batch]:
    """Yield the batches of an epoch: `batch_size` questions in random order.

    A question comes with all correct candidates and up to `negatives.count` randomly drawn wrong
    ones; questions without wrong candidates are skipped. The batches depend on seed and epoch only,
    so that a resumed training run sees the same ones.
    """
    train = data.splits["train"]
    generator = np.random.default_rng([seed, 2, epoch])
    numbers, questions = pd.factorize(train.pairs["question_id"])
    is_wrong = train.labels == 0
    order = generator.permutation(np.unique(numbers[is_wrong]))
    # Sort by question; within a question, correct candidates precede the shuffled wrong ones.
    rows = np.lexsort((generator.random(len(numbers)), is_wrong, numbers))
    ends = np.bincount(numbers[rows], minlength=len(questions)).cumsum()
    correct = np.bincount(numbers, ~is_wrong, minlength=len(questions)).astype(int)
    starts = np.r_[0, ends[:-1]]
    ends = np.minimum(ends, starts + correct + training.negatives.count)
    for chunk in split_evenly(order, training.batch_size):
        chunk_rows = np.concatenate([rows[starts[number] : ends[number]] for number in chunk])
        yield make_batch(data, chunk_rows)
