"""The questions of an epoch with their candidates, in batches."""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from analogyqa.examples.batches import Batch, make_batch
from analogyqa.examples.data import CellData

if TYPE_CHECKING:
    from analogyqa.settings.systems import Training


def epoch_batches(
    data: CellData, training: "Training", seed: int, epoch: int, with_prototypes: bool = False
) -> Iterator[Batch]:
    """Yield the batches of an epoch: `batch_size` questions in random order.

    A question has all of its right candidates and up to `negatives.count` of its wrong ones, drawn
    anew; without wrong ones it has no part. Everything follows from seed and epoch, so that a
    resumed training sees what an uninterrupted one would.
    """
    part = data.splits["train"]
    generator = np.random.default_rng([seed, 2, epoch])
    numbers, questions = pd.factorize(part.pairs["question_id"])
    is_wrong = part.labels == 0
    chosen = generator.permutation(np.unique(numbers[is_wrong]))
    # The right candidates of each question first, then its wrong ones in random order.
    rows = np.lexsort((generator.random(len(numbers)), is_wrong, numbers))
    ends = np.bincount(numbers[rows], minlength=len(questions)).cumsum()
    right = np.bincount(numbers, ~is_wrong, minlength=len(questions)).astype(int)
    starts = np.r_[0, ends[:-1]]
    ends = np.minimum(ends, starts + right + training.negatives.count)
    for chunk in np.array_split(chosen, math.ceil(len(chosen) / training.batch_size) or 1):
        if len(chunk):
            own = [rows[starts[number] : ends[number]] for number in chunk]
            yield make_batch(data, np.concatenate(own), np.zeros(0, dtype=np.int64))
