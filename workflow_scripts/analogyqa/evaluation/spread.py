"""The spread of scores: over runs, over questions, and over the points of a curve."""

from functools import lru_cache

import numpy as np
from scipy.special import gammaln, stdtrit


def summarise(
    values: np.ndarray,
    samples: int,
    confidence: float,
    largest: float = np.inf,
    smallest: float = 0,
    strata: np.ndarray | None = None,
    shared: float = 1,
) -> dict[str, float]:
    """Summarise scores of several seeds.

    Args:
        values: Float array [seeds, items]; weighted items may exceed `largest`.
        samples: The number of bootstrap samples.
        confidence: The level of both intervals.
        largest, smallest: The largest and the smallest possible mean, where intervals are cut off.
        strata: As in `bootstrap_means`.
        shared: The number of seeds that share each model, see `inflation`.

    Returns: the `mean` over items and seeds; `sd`, the standard deviation of the means of
        independent runs; `run_low` and `run_high`, the prediction interval of one more run on the
        same items, see `interval_of_runs`; `ci_low` and `ci_high`, the interval of the mean for
        other items, by a bootstrap over seeds and items with a fixed random seed.
    """
    means = bootstrap_means(values, samples, stream=0, strata=strata, shared=shared)
    tail = (1 - confidence) / 2
    low, high = np.quantile(means, [tail, 1 - tail]).clip(smallest, largest)
    by_seed, seeds = values.mean(axis=1), len(values)
    mean = float(by_seed.mean())
    sd = float(by_seed.std(ddof=1)) * inflation(seeds, shared) if seeds > 1 else 0.0
    runs = interval_of_runs(mean, sd, seeds, confidence, 1, largest, smallest, shared)
    names = ("mean", "sd", "run_low", "run_high", "ci_low", "ci_high")
    return dict(zip(names, (mean, sd, *runs, float(low), float(high)), strict=True))


def interval_of_runs(
    mean: float,
    sd: float,
    seeds: int,
    confidence: float,
    runs: int,
    largest: float = np.inf,
    smallest: float = 0,
    shared: float = 1,
) -> tuple[float, float]:
    """Return the prediction interval of the mean of further runs on the same items.

    This is mean ± t sd sqrt(1/runs + shared/S) over the means of S seeds, cut off at `smallest` and
    `largest`, with the freedom of `degrees_of_freedom`; NaN if no two seeds have different models.
    """
    if seeds <= shared:
        return np.nan, np.nan
    freedom = degrees_of_freedom(seeds, shared)
    student_t = float(stdtrit(freedom, (1 + confidence) / 2))
    reach = student_t * sd * np.sqrt(1 / runs + shared / seeds)
    low, high = np.clip([mean - reach, mean + reach], smallest, largest)
    return float(low), float(high)


def coefficient_of_variation(mean: float, sd: float, seeds: float) -> float:
    """Return the coefficient of variation of few values, in percent: CV* = (1 + 1/(4n)) s / mean.

    s is the deviation divided by c4(n), which removes its bias (Belz, Popović and Mille 2022,
    "Quantified reproducibility assessment of NLP results", ACL). NaN without a mean above 0 and two
    seeds.
    """
    if not (mean > 0 and seeds > 1):
        return np.nan
    c4 = np.sqrt(2 / (seeds - 1)) * np.exp(gammaln(seeds / 2) - gammaln((seeds - 1) / 2))
    return float(100 * (1 + 1 / (4 * seeds)) * sd / c4 / mean)


def inflation(seeds: int, shared: float) -> float:
    """Return the deviation of independent ensembles over that of ensembles that share models.

    Each of S ensembles has one model of each of `shared` seeds, in a circle. Their variance lacks
    the part that they have in common, the variance of their mean: `shared`/S of that of independent
    ensembles. Without sharing the factor is 1; if all have the same models, it is 0.
    """
    return np.sqrt((seeds - 1) / (seeds - shared)) if seeds > shared else 0.0


def degrees_of_freedom(seeds: int, shared: float = 1) -> float:
    """Return the degrees of freedom of the variance of S ensembles, at least 1.

    They are S - 1 without sharing. Otherwise they are Satterthwaite's (1946), by the eigenvalues of
    the covariance of the ensembles on their circle.
    """
    if seeds <= shared:
        return 1.0
    models = np.arange(seeds) < np.ceil(shared)
    eigenvalues = np.abs(np.fft.fft(models))[1:] ** 2
    return float(eigenvalues.sum() ** 2 / (eigenvalues**2).sum())


def bootstrap_means(
    values: np.ndarray,
    samples: int,
    stream: int,
    strata: np.ndarray | None = None,
    shared: float = 1,
) -> np.ndarray:
    """Return bootstrap means [samples] of scores, drawing seeds and items with replacement.

    Args:
        values: Float array [seeds, items].
        samples: The number of draws.
        stream: The stream of the draws of seeds. All calls with the same number of items draw the
            same items.
        strata: The number of the stratum of each item, int [items]; a draw has as many items of
            each stratum as there are. None for one stratum.
        shared: The number of seeds that share each model, see `inflation`.
    """
    seeds, items = values.shape
    if strata is None:
        item_weights = _weights(items, samples, (0,))
    else:
        item_weights = np.empty((samples, items))
        for number, size in enumerate(np.bincount(strata)):
            drawn = _weights(int(size), samples, (0, number))
            item_weights[:, strata == number] = drawn * size / items
    seed_weights = _weights(seeds, samples, (1, stream))
    if seeds > 1:
        # The variance of a resample of n values is too small by the factor (n - 1) / n.
        stretch = np.sqrt(seeds / (seeds - 1) * shared) * inflation(seeds, shared)
        seed_weights = 1 / seeds + (seed_weights - 1 / seeds) * stretch
    means = np.einsum("bs,sq,bq->b", seed_weights, values, item_weights, optimize=True)
    # BLAS adds in another order on another processor. Without the last digits, an end of an
    # interval that lies just between two printed values is printed as the same one everywhere.
    return means.round(12)


def best_shares(draws: np.ndarray) -> np.ndarray:
    """Return the share of draws in which each mean is the highest: float array [n].

    Equal means share a draw. `draws` are bootstrap means, float array [n, samples].
    """
    is_best = np.isclose(draws, draws.max(axis=0), rtol=0, atol=1e-12)
    return (is_best / is_best.sum(axis=0)).mean(axis=1)


@lru_cache(maxsize=32)  # most runs of a table have the same items
def _weights(count: int, samples: int, seed: tuple[int, ...]) -> np.ndarray:
    drawn = np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), samples)
    return drawn / count
