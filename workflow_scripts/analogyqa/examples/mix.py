"""The pairs of an epoch with their wrong candidates, in batches (Rao et al. 2016)."""

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
    """Yield the batches of an epoch: `batch_size` right pairs in random order, with wrong ones.

    The rows of a right pair stand together: itself, one wrong candidate of its question, then
    `negatives.count` of which the objective takes the hardest. All are drawn at random, a candidate
    perhaps twice. A question without wrong candidates has no part. Everything follows from seed and
    epoch, so that a resumed training sees what an uninterrupted one would.
    """
    part = data.splits["train"]
    generator = np.random.default_rng([seed, 2, epoch])
    numbers, _ = pd.factorize(part.pairs["question_id"])
    wrong_rows = np.flatnonzero(part.labels == 0)
    wrong_rows = wrong_rows[np.argsort(numbers[wrong_rows], kind="stable")]
    questions = np.arange(numbers.max(initial=-1) + 2)
    starts = np.searchsorted(numbers[wrong_rows], questions)
    right = np.flatnonzero(part.labels == 1)
    right = right[np.diff(starts)[numbers[right]] > 0]
    right = generator.permutation(right)
    own = numbers[right, None]
    drawn = generator.integers(
        starts[own], starts[own + 1], size=(len(right), 1 + training.negatives.count)
    )
    rows = np.concatenate([right[:, None], wrong_rows[drawn]], axis=1)
    for chunk in np.array_split(rows, math.ceil(len(rows) / training.batch_size) or 1):
        if len(chunk):
            yield make_batch(data, chunk.ravel(), np.zeros(0, dtype=np.int64))
