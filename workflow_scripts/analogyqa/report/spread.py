"""The spread of a system's values: over further runs, over other questions, over points."""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.stats import t as student


class Summary(NamedTuple):
    """A mean over items and seeds with its spread.

    `sd` is over the seeds' means. One further run lies in [run_low, run_high], on the same items;
    with one seed nothing says where, and both are not a number. [ci_low, ci_high] says how far the
    mean carries to other items.
    """

    mean: float
    sd: float
    run_low: float
    run_high: float
    ci_low: float
    ci_high: float


def summarise(
    values: np.ndarray, samples: int, confidence: float, largest: float = np.inf
) -> Summary:
    """Summarise values [seeds, items] whose means lie between 0 and `largest`.

    The interval of a further run is the prediction interval mean ± t(S - 1) sd sqrt(1 + 1/S) over
    the means of S seeds, as far as they can lie there. That over items is a bootstrap of both
    axes; its draws come from a fixed seed, so the same values give the same interval. Values may be
    larger, as those of items of which more was asked are, and so may be draws, which are cut off.
    """
    seeds = len(values)
    means = bootstrap_means(values, samples, of_seeds=0)
    tail = (1 - confidence) / 2
    low, high = np.quantile(means, [tail, 1 - tail]).clip(max=largest)
    by_seed = values.mean(axis=1)
    mean, sd, reach = float(by_seed.mean()), 0.0, np.nan
    if seeds > 1:
        sd = float(by_seed.std(ddof=1))
        reach = float(student.ppf(1 - tail, seeds - 1)) * sd * np.sqrt(1 + 1 / seeds)
    run_low, run_high = np.clip([mean - reach, mean + reach], 0, largest)
    return Summary(mean, sd, float(run_low), float(run_high), float(low), float(high))


def bootstrap_means(values: np.ndarray, samples: int, of_seeds: int) -> np.ndarray:
    """Return means [samples] of values [seeds, items], both axes drawn with replacement.

    Two calls with as many items draw the same ones; `of_seeds` says which seeds are drawn.
    """
    seeds, items = values.shape
    item_weights = _weights(items, samples, (0,))
    seed_weights = _weights(seeds, samples, (1, of_seeds))
    if seeds > 1:
        # A resample of n values spreads too little, by (n - 1) / n in variance: a third of 3 seeds.
        seed_weights = 1 / seeds + (seed_weights - 1 / seeds) * np.sqrt(seeds / (seeds - 1))
    return np.einsum("bs,sq,bq->b", seed_weights, values, item_weights, optimize=True)


def shares_of_best(curve: Sequence[np.ndarray], samples: int) -> np.ndarray:
    """Return for each point of a curve how often it is the best, [points], in a bootstrap.

    Args:
        curve: values [seeds, items] of each point, the same items in the same order. A draw has the
            same items at each point, and seeds of its own; equal points share it.
        samples: the number of draws.
    """
    means = np.stack([bootstrap_means(point, samples, of) for of, point in enumerate(curve)])
    best = np.isclose(means, means.max(axis=0), rtol=0, atol=1e-12)
    return (best / best.sum(axis=0)).mean(axis=1)


@lru_cache(maxsize=4)  # the runs of a table have the same items
def _weights(count: int, samples: int, seed: tuple[int, ...]) -> np.ndarray:
    drawn = np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), samples)
    return drawn / count
