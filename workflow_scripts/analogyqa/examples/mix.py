"""Batch the correct pairs of an epoch with wrong candidates (Rao et al. 2016)."""

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
    """Yield the batches of an epoch: `batch_size` correct pairs in random order, with wrong ones.

    Each correct pair is followed by `negatives.random` wrong candidates of its question, drawn with
    replacement, and then by `negatives.count`, drawn without, among which the objective chooses the
    hardest. A question with fewer wrong candidates has its correct one instead of the missing ones.
    Questions without any are skipped. The batches depend on seed and epoch only, so that a resumed
    training run sees the same ones.
    """
    train = data.splits["train"]
    generator = np.random.default_rng([seed, 2, epoch])
    numbers, _ = pd.factorize(train.pairs["question_id"])
    wrong_rows = np.flatnonzero(train.labels == 0)
    wrong_rows = wrong_rows[np.argsort(numbers[wrong_rows], kind="stable")]
    questions = np.arange(numbers.max(initial=-1) + 2)
    starts = np.searchsorted(numbers[wrong_rows], questions)
    correct = np.flatnonzero(train.labels == 1)
    correct = correct[np.diff(starts)[numbers[correct]] > 0]
    correct = generator.permutation(correct)
    question = numbers[correct, None]
    first, counts = starts[question], np.diff(starts)[question]
    random = generator.integers(
        first, first + counts, size=(len(correct), training.negatives.random)
    )
    # A random order of the wrong candidates of each question, and then its correct candidate.
    width = int(max(counts.max(initial=0), training.negatives.count))
    keys = generator.random((len(correct), width))
    is_missing = np.arange(width) >= counts
    order = np.where(is_missing, np.inf, keys).argsort(axis=1, kind="stable")
    order = order[:, : training.negatives.count]
    is_wrong = order < counts
    others = np.where(
        is_wrong, wrong_rows[np.where(is_wrong, first + order, first)], correct[:, None]
    )
    rows = np.concatenate([correct[:, None], wrong_rows[random], others], axis=1)
    for chunk in split_evenly(rows, training.batch_size):
        yield make_batch(data, chunk.ravel())
