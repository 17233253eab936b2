"""The questions of an epoch with all of their candidates, in batches."""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from analogyqa.examples.batches import Batch, batch_of
from analogyqa.examples.data import CellData

if TYPE_CHECKING:
    from analogyqa.settings.systems import Training


def epoch_batches(
    data: CellData, training: "Training", seed: int, epoch: int, with_prototypes: bool = False
) -> Iterator[Batch]:
    """Yield the batches of an epoch: `batch_size` questions in random order, with all their pairs.

    A question without wrong candidates has no part. Everything follows from seed and epoch, so that
    a resumed training sees what an uninterrupted one would.
    """
    part = data.splits["train"]
    generator = np.random.default_rng([seed, 2, epoch])
    numbers, questions = pd.factorize(part.pairs["question_id"])
    rivals = np.bincount(numbers, part.labels == 0, minlength=len(questions))
    chosen = generator.permutation(np.flatnonzero(rivals))
    rows = np.argsort(numbers, kind="stable")
    starts = np.searchsorted(numbers[rows], np.arange(len(questions) + 1))
    for chunk in np.array_split(chosen, math.ceil(len(chosen) / training.batch_size) or 1):
        if len(chunk):
            own = [rows[starts[number] : starts[number + 1]] for number in chunk]
            yield batch_of(data, np.concatenate(own), np.zeros(0, dtype=np.int64))
