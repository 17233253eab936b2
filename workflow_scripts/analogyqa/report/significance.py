"""Tests between systems: one comparison, several in one claim, several claims."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

SAMPLES = 10_000
EQUIVALENT = 0.03  # a smaller difference of means is none that matters here
POWER = 0.8

# Sums in another order differ in their last digits; draws that equal the observed value count.
_EQUAL = 1e-12


class Paired(NamedTuple):
    """The difference of two systems' means, and what their values can decide.

    Attributes:
        difference: first minus second, a mean over items and seeds.
        low, high: its confidence interval.
        p_greater, p_less: one-sided p-values of "the first is greater" and "is less".
        p_equivalent: of "the true difference is smaller than `EQUIVALENT`", either way.
        detectable: the smallest true difference that is found with the chance `POWER`.
        draws: [samples] how far chance alone moves the difference, sorted.
        of_items, of_seeds: the two parts of the variance of the difference.
    """

    difference: float
    low: float
    high: float
    p_greater: float
    p_less: float
    p_equivalent: float
    detectable: float
    draws: np.ndarray
    of_items: float
    of_seeds: float

    def power(self, effect: float, level: float) -> float:
        """Return the chance of finding a true difference, two-sided at a level."""
        beyond = np.quantile(np.abs(self.draws), 1 - level)
        direction = 1 if effect >= 0 else -1
        return float(np.mean(direction * (effect + self.draws) > beyond))

    def items_needed(self, effect: float, level: float, items: int) -> float:
        """Return how many items, instead of these, find an effect with the chance `POWER`.

        Infinite where the seeds' part of the variance alone hides it.
        """
        spread = np.sqrt(self.of_items + self.of_seeds)
        if spread == 0:
            return 1.0
        beyond = np.quantile(np.abs(self.draws), 1 - level) + np.quantile(self.draws, POWER)
        left = (effect / (beyond / spread)) ** 2 - self.of_seeds
        return float(np.ceil(items * self.of_items / left)) if left > 0 else np.inf


def compare_paired(
    first: np.ndarray,
    second: np.ndarray,
    level: float = 0.05,
    samples: int = SAMPLES,
    same_runs: bool = False,
) -> Paired:
    """Compare two systems by a paired randomisation test over questions and seeds.

    The statistic is the mean over questions of the difference of the seeds' means. Each draw flips
    the signs of some questions' differences, in all seeds together, because the seeds of a
    question are no independent observations (Smucker, Allan and Carterette 2007, "A comparison of
    statistical significance tests for information retrieval evaluation", CIKM). It adds, for each
    system, how far the mean of its seeds may be from that of all seeds, by the variance between
    seeds less the part of it that questions explain; with one seed there is none. The sum is
    stretched as Student's t is, with the degrees of freedom of Satterthwaite (1946, "An approximate
    distribution of estimates of variance components", Biometrics Bulletin 2). For the interval,
    the equivalence and the power the differences are centred first. Equivalence is two one-sided
    tests (Schuirmann 1987, "A comparison of the two one-sided tests procedure and the power
    approach", Journal of Pharmacokinetics and Biopharmaceutics 15). Draws come from a fixed seed.

    Args:
        first, second: values [seeds, questions]; the same questions in the same order.
        level: two-sided, of the interval and of what is detectable.
        samples: the number of draws.
        same_runs: whether row i of both is of one run, as for two metrics of a system; its seeds
            are then one set.

    Raises:
        ValueError: when the numbers of questions differ, or those of seeds of `same_runs`.
    """
    if first.shape[1] != second.shape[1] or (same_runs and first.shape != second.shape):
        raise ValueError(f"values {list(first.shape)} and {list(second.shape)} cannot be paired")
    by_question = first.mean(axis=0) - second.mean(axis=0)
    observed, count = float(by_question.mean()), len(by_question)
    generator = np.random.default_rng(0)
    signs = generator.choice([-1.0, 1.0], (samples, count))
    # Centring takes a degree of freedom.
    centred = (by_question - observed) * np.sqrt(count / max(count - 1, 1))
    of_items = float((centred**2).mean() / count)
    # Equal values are of one run, whatever it is called.
    together = same_runs or np.array_equal(first, second)
    systems = [first - second] if together else [first, second]
    variances = [_variance_of_seeds(values) for values in systems]
    of_seeds = sum(variances)
    runs = np.sqrt(of_seeds) * generator.standard_normal(samples)
    # Few seeds say little of their own variance: Satterthwaite's degrees of freedom.
    unsure = sum(
        variance**2 / max(len(values) - 1, 1)
        for variance, values in zip(variances, systems, strict=True)
    )
    freedom = (of_items + of_seeds) ** 2 / unsure if unsure else np.inf
    stretch = np.sqrt(freedom / generator.chisquare(freedom, samples)) if unsure else 1.0
    null = (signs @ by_question / count + runs) * stretch
    draws = np.sort((signs @ centred / count + runs) * stretch)
    return _decided(observed, null, draws, of_items, of_seeds, level)


def compare_apart(
    first: np.ndarray, second: np.ndarray, level: float = 0.05, samples: int = SAMPLES
) -> Paired:
    """Compare the means of values of other questions, as of two subsets.

    As `compare_paired`, but each side's questions are drawn for themselves: the signs of what they
    lie from their own mean (the wild bootstrap, Wu 1986, "Jackknife, bootstrap and other resampling
    methods in regression analysis", Annals of Statistics 14). The seeds' variances are added.

    Args:
        first, second: values [seeds, questions].
        level, samples: as in `compare_paired`.
    """
    generator = np.random.default_rng(0)
    draws, of_items, of_seeds = np.zeros(samples), 0.0, 0.0
    for values in (first, second):
        own = values.mean(axis=0)
        count = len(own)
        centred = (own - own.mean()) * np.sqrt(count / max(count - 1, 1))
        draws += generator.choice([-1.0, 1.0], (samples, count)) @ centred / count
        of_items += float((centred**2).mean() / count)
        of_seeds += _variance_of_seeds(values)
    draws = np.sort(draws + np.sqrt(of_seeds) * generator.standard_normal(samples))
    observed = float(first.mean() - second.mean())
    return _decided(observed, draws, draws, of_items, of_seeds, level)


def _decided(
    observed: float,
    null: np.ndarray,
    draws: np.ndarray,
    of_items: float,
    of_seeds: float,
    level: float,
) -> Paired:
    """Return a comparison, of the draws for its p-values and of the centred ones."""
    reach = float(np.quantile(np.abs(draws), 1 - level))
    above, below = observed + EQUIVALENT, observed - EQUIVALENT
    return Paired(
        observed,
        observed - reach,
        observed + reach,
        _share(null >= observed - _EQUAL),
        _share(null <= observed + _EQUAL),
        max(_share(draws >= above - _EQUAL), _share(draws <= below + _EQUAL)),
        reach + float(np.quantile(draws, POWER)),
        draws,
        of_items,
        of_seeds,
    )


def _share(extreme: np.ndarray) -> float:
    """Return the share of the draws, and of the observed value, that is as extreme."""
    return (1 + int(np.count_nonzero(extreme))) / (1 + len(extreme))


def _variance_of_seeds(values: np.ndarray) -> float:
    """Return the variance of the mean [seeds, questions] over seeds, for these questions.

    That of the seeds' means has a part that is due to each seed doing well on other questions; the
    questions' own spread has it already.
    """
    seeds, questions = values.shape
    if seeds == 1:
        return 0.0
    means = values.mean(axis=1, keepdims=True)
    rest = values - means - values.mean(axis=0) + values.mean()
    interaction = (rest**2).sum() / ((seeds - 1) * max(questions - 1, 1)) / questions
    variance = float(means.var(ddof=1) - interaction)
    return variance / seeds if variance > _EQUAL**2 else 0.0


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
