"""Tests between systems: one comparison, several in one claim, several claims."""

from collections.abc import Sequence

import numpy as np

SAMPLES = 10_000

# Sums in another order differ in their last digits; draws that equal the observed value count.
_EQUAL = 1e-12


def paired_p_values(
    first: np.ndarray, second: np.ndarray, samples: int = SAMPLES, same_runs: bool = False
) -> tuple[float, float, float]:
    """Test whether two systems differ, by a paired randomisation test over questions and seeds.

    The statistic is the mean over questions of the difference of the seeds' means. Each draw flips
    the signs of some questions' differences, in all seeds together, because the seeds of a
    question are no independent observations (Smucker, Allan and Carterette 2007, "A comparison of
    statistical significance tests for information retrieval evaluation", CIKM). It adds, for each
    system, how far the mean of seeds drawn with replacement is from their mean (Efron and
    Tibshirani 1993, "An introduction to the bootstrap"), so that the spread over seeds counts
    too; with one seed there is none. Draws come from a fixed seed.

    Args:
        first, second: values [seeds, questions]; the same questions in the same order.
        samples: the number of draws.
        same_runs: whether row i of both is of one run, as for two metrics of a system; its seeds
            are then drawn together.

    Returns:
        The statistic, the p-value of "first is greater" and that of "first is less": of the draws
        and the observed value, the share that is at least as extreme. Identical values give 1.

    Raises:
        ValueError: when the numbers of questions differ, or those of seeds of `same_runs`.
    """
    if first.shape[1] != second.shape[1] or (same_runs and first.shape != second.shape):
        raise ValueError(f"values {list(first.shape)} and {list(second.shape)} cannot be paired")
    if np.array_equal(first, second):
        return 0.0, 1.0, 1.0
    by_question = first.mean(axis=0) - second.mean(axis=0)
    observed = float(by_question.mean())
    generator = np.random.default_rng(0)
    signs = generator.choice([-1.0, 1.0], (samples, len(by_question)))
    draws = signs @ by_question / len(by_question)
    if same_runs:
        draws += _seed_deviations(first.mean(axis=1) - second.mean(axis=1), samples, generator)
    else:
        draws += _seed_deviations(first.mean(axis=1), samples, generator)
        draws -= _seed_deviations(second.mean(axis=1), samples, generator)
    greater = np.count_nonzero(draws >= observed - _EQUAL)
    less = np.count_nonzero(draws <= observed + _EQUAL)
    return observed, (1 + greater) / (1 + samples), (1 + less) / (1 + samples)


def _seed_deviations(means: np.ndarray, samples: int, generator: np.random.Generator) -> np.ndarray:
    """Draw deviations [samples] of the mean of some seeds' means [seeds]."""
    seeds = len(means)
    if seeds == 1:
        return np.zeros(samples)
    weights = generator.multinomial(seeds, np.full(seeds, 1 / seeds), samples) / seeds
    # A resample of n values spreads too little, by (n - 1) / n in variance: a third of 3 seeds.
    return weights @ (means - means.mean()) * np.sqrt(seeds / (seeds - 1))


def partial_conjunction(p_values: Sequence[float], needed: int) -> float:
    """Return the p-value of "at least `needed` of these n hypotheses are true".

    Bonferroni's form, valid however the tests depend on each other: (n - needed + 1) times the
    `needed`-th smallest p-value, at most 1 (Benjamini and Heller 2008, "Screening for partial
    conjunction hypotheses", Biometrics 64). All needed: the largest; one needed: n times the
    smallest.

    Raises ValueError when `needed` is not between 1 and n.
    """
    count = len(p_values)
    if not 1 <= needed <= count:
        raise ValueError(f"{needed} of {count} hypotheses cannot be needed")
    return min(1.0, (count - needed + 1) * sorted(p_values)[needed - 1])


def holm(p_values: Sequence[float]) -> list[float]:
    """Return the p-values adjusted for being tested together, in their order.

    Holm 1979, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
    Statistics 6: rejecting what is below a level keeps the chance of any false rejection below it.
    """
    order = np.argsort(p_values, kind="stable")
    factors = np.arange(len(order), 0, -1)
    adjusted = np.empty(len(order))
    adjusted[order] = np.minimum(1, np.maximum.accumulate(factors * np.asarray(p_values)[order]))
    return adjusted.tolist()
