"""Tests between systems: one comparison, several in one claim, several claims."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd
from scipy.special import chdtrc, ndtr, ndtri  # scipy.stats would cost half a second

from analogyqa.cells import Cell
from analogyqa.errors import AnalogyQAError
from analogyqa.evaluation.spread import degrees_of_freedom, inflation
from analogyqa.evaluation.summary import DECIMALS, item_folds, shared_seeds
from analogyqa.measures import item_strata
from analogyqa.settings.run import Config
from analogyqa.settings.studies import Bootstrap

SAMPLES = 10_000
POWER = 0.8

# Sums in another order differ in their last digits; draws equal to the observed value count.
_EQUAL = 1e-12


@dataclass(frozen=True)
class Comparison:
    """The difference of the means of two systems, and what the data can decide about it.

    Attributes:
        difference: First minus second, a mean over items and seeds.
        level: The two-sided level of the interval and of the detectable difference.
        null: Float array [samples]: the difference under the null hypothesis.
        draws: Float array [samples], sorted: the difference under chance alone.
        item_variance, seed_variance: The parts of the variance of the difference due to these; that
            of the seeds includes their training data.
    """

    difference: float
    level: float
    null: np.ndarray
    draws: np.ndarray
    item_variance: float
    seed_variance: float

    @property
    def reach(self) -> float:
        """Half of the width of the confidence interval of the difference."""
        return float(np.quantile(np.abs(self.draws), 1 - self.level))

    @property
    def low(self) -> float:
        return self.difference - self.reach

    @property
    def high(self) -> float:
        return self.difference + self.reach

    @property
    def error(self) -> float:
        """The standard error of the difference."""
        return float(self.draws.std())

    @property
    def p_greater(self) -> float:
        """The one-sided p-value of "the first is greater"."""
        return _share(self.null >= self.difference - _EQUAL)

    @property
    def p_less(self) -> float:
        """The one-sided p-value of "the first is less"."""
        return _share(self.null <= self.difference + _EQUAL)

    @property
    def detectable(self) -> float:
        """The smallest true difference that is found with probability `POWER`."""
        return self.reach + float(np.quantile(self.draws, POWER))

    def rounded(self) -> dict[str, float]:
        """Return the columns COMPARED and `detectable`, rounded as in tables."""
        return {name: round(getattr(self, name), DECIMALS) for name in (*COMPARED, "detectable")}

    def p_equivalent(self, margin: float) -> float:
        """Return the p-value of "the absolute true difference is below the margin".

        This is two one-sided tests (Schuirmann 1987, "A comparison of the two one-sided tests
        procedure and the power approach", Journal of Pharmacokinetics and Biopharmaceutics 15).
        """
        above, below = self.difference + margin, self.difference - margin
        return max(_share(self.draws >= above - _EQUAL), _share(self.draws <= below + _EQUAL))

    def power(self, effect: float) -> float:
        """Return the probability of finding a true difference with a two-sided test."""
        direction = 1 if effect >= 0 else -1
        return float(np.mean(direction * (effect + self.draws) > self.reach))

    def items_needed(self, effect: float, items: int) -> float:
        """Return the number of items with which an effect is found with probability `POWER`.

        `items` were compared here. Infinity if the variance of the seeds alone hides the effect.
        """
        spread = np.sqrt(self.item_variance + self.seed_variance)
        if spread == 0:
            return 1.0
        left = (effect / (self.detectable / spread)) ** 2 - self.seed_variance
        return float(np.ceil(items * self.item_variance / left)) if left > 0 else np.inf


def compare_paired(
    first: np.ndarray,
    second: np.ndarray,
    level: float = 0.05,
    samples: int = SAMPLES,
    same_runs: bool = False,
    strata: np.ndarray | None = None,
    shared: tuple[float, float] = (1, 1),
    folds: np.ndarray | None = None,
) -> Comparison:
    """Compare two systems by a paired randomisation test over questions and seeds.

    The statistic is the mean over questions of the difference between the seeds' means. Each draw
    flips the signs of some questions' differences, in all seeds together, because the seeds of a
    question are not independent observations (Smucker, Allan and Carterette 2007, "A comparison of
    statistical significance tests for information retrieval evaluation", CIKM). It adds for each
    system a random deviation of the mean of its seeds, with the variance between seeds minus the
    part that questions explain; with one seed there is none. The sum is scaled like Student's t,
    with the degrees of freedom of Satterthwaite (1946, "An approximate distribution of estimates of
    variance components", Biometrics Bulletin 2). For the interval, tests of equivalence and the
    power, the differences are centred first. The random seed of the draws is fixed.

    In a cross-validation, the questions of a fold share their training data. If each seed has a
    partition of its own, the variance between seeds, here of the difference, contains the effects
    of these training sets, except for what they have in common because they overlap. Nadeau and
    Bengio (2003, "Inference for the generalization error", Machine Learning 52) assume a
    correlation of test / (test + train) between any two of J training sets, so that the variance of
    their mean is v (1/J + test / train), where v is the variance between them (for repeated
    cross-validation: Bouckaert and Frank 2004, "Evaluating the replicability of significance tests
    for comparing learning algorithms", PAKDD). The first part is in the variance between seeds;
    `folds` adds the second. A larger correlation cannot be seen within one data set.

    Args:
        first, second: Float arrays [seeds, questions], the same questions in the same order.
        level: The two-sided level of the interval and of the detectable difference.
        samples: The number of draws.
        same_runs: Whether row i of both is from one run, such as two measures of one system. Both
            then share one set of seeds.
        strata: The number of the stratum of each question, int [questions]; deviations are from
            the mean of the stratum. None for one stratum.
        shared: The number of seeds that share each model of either system, see `spread.inflation`.
        folds: The fold in which row i of both was tested, int [seeds, questions], numbered from 0.
            Rows are then paired, as in `same_runs`. None, or one partition, for no correction.

    Raises:
        ValueError: if the numbers of questions differ, or those of seeds of `same_runs` or `folds`.
    """
    if folds is not None and (folds == folds[0]).all():
        folds = None  # folds of one partition differ by their questions, too
    has_pairs = same_runs or folds is not None
    if first.shape[1] != second.shape[1] or (has_pairs and first.shape != second.shape):
        raise ValueError(f"scores {list(first.shape)} and {list(second.shape)} cannot be paired")
    by_question = first.mean(axis=0) - second.mean(axis=0)
    observed, count = float(by_question.mean()), len(by_question)
    generator = np.random.default_rng(0)
    signs, deviations, generator.bit_generator.state = _draws(samples, count)
    centred = _centred(by_question, strata)
    item_variance = float((centred**2).mean() / count)
    # Equal scores are from one run, whatever its name is.
    has_pairs = has_pairs or np.array_equal(first, second)
    systems = [first - second] if has_pairs else [first, second]
    seed_variance = uncertainty = 0.0
    for values, of_system in zip(systems, shared, strict=False):  # pairs have the first's
        variance = _seed_variance(values, of_system, folds)
        seed_variance += variance
        # Few seeds estimate their variance poorly: Satterthwaite's degrees of freedom.
        uncertainty += variance**2 / degrees_of_freedom(len(values), of_system)
    runs = np.sqrt(seed_variance) * deviations
    freedom = (item_variance + seed_variance) ** 2 / uncertainty if uncertainty else np.inf
    stretch = np.sqrt(freedom / generator.chisquare(freedom, samples)) if uncertainty else 1.0
    null = (signs @ by_question / count + runs) * stretch
    draws = np.sort((signs @ centred / count + runs) * stretch)
    return Comparison(observed, level, null, draws, item_variance, seed_variance)


@lru_cache(maxsize=1)  # most comparisons of a table are over the same questions
def _draws(samples: int, questions: int) -> tuple[np.ndarray, np.ndarray, Mapping]:
    """Return signs [samples, questions], normal deviates [samples], and the generator's state."""
    generator = np.random.default_rng(0)
    signs = generator.choice([-1.0, 1.0], (samples, questions))
    return signs, generator.standard_normal(samples), generator.bit_generator.state


def compare_unpaired(
    first: np.ndarray,
    second: np.ndarray,
    level: float = 0.05,
    strata: tuple[np.ndarray | None, np.ndarray | None] = (None, None),
    shared: tuple[float, float] = (1, 1),
) -> Comparison:
    """Compare means over different questions, such as those of two subsets.

    Unlike in `compare_paired`, the questions of each side are drawn independently: each draw flips
    the signs of their deviations from the mean of the side (wild bootstrap, Wu 1986, "Jackknife,
    bootstrap and other resampling methods in regression analysis", Annals of Statistics 14). The
    variances of the seeds are added.

    Args:
        first, second: Float arrays [seeds, questions].
        level: As in `compare_paired`.
        strata, shared: Those of each side, as in `compare_paired`.
    """
    generator = np.random.default_rng(0)
    draws, item_variance, seed_variance = np.zeros(SAMPLES), 0.0, 0.0
    for values, side_strata, of_side in zip((first, second), strata, shared, strict=True):
        centred = _centred(values.mean(axis=0), side_strata)
        count = len(centred)
        draws += generator.choice([-1.0, 1.0], (SAMPLES, count)) @ centred / count
        item_variance += float((centred**2).mean() / count)
        seed_variance += _seed_variance(values, of_side)
    draws = np.sort(draws + np.sqrt(seed_variance) * generator.standard_normal(SAMPLES))
    observed = float(first.mean() - second.mean())
    return Comparison(observed, level, draws, draws, item_variance, seed_variance)


def _centred(by_question: np.ndarray, strata: np.ndarray | None) -> np.ndarray:
    """Return the deviations from the mean of each stratum, which uses up a degree of freedom."""
    if strata is None:
        strata = np.zeros(len(by_question), dtype=np.int64)
    sizes = np.bincount(strata)
    means = np.bincount(strata, by_question) / sizes
    stretch = np.sqrt(sizes / np.maximum(sizes - 1, 1))
    return (by_question - means[strata]) * stretch[strata]


def _share(extreme: np.ndarray) -> float:
    """Return the share of draws that are as extreme; the observed value counts as one of them."""
    return (1 + int(np.count_nonzero(extreme))) / (1 + len(extreme))


def _seed_variance(values: np.ndarray, shared: float = 1, folds: np.ndarray | None = None) -> float:
    """Return the variance over seeds and training data of a mean [seeds, questions].

    The questions are fixed. The interaction of seeds and questions is subtracted, because the
    spread over questions already contains it. `shared` is the number of seeds that share each
    model, see `spread.inflation`; `folds` are those of `compare_paired`.
    """
    seeds, questions = values.shape
    if seeds == 1:
        return 0.0
    interaction = (_residuals(values) ** 2).sum() / ((seeds - 1) * max(questions - 1, 1))
    variance = float(values.mean(axis=1).var(ddof=1) - interaction / questions)
    variance = max(0.0, variance) * shared / seeds
    if folds is not None:
        variance += _overlap_variance(values, folds)
    return variance * inflation(seeds, shared) ** 2 if variance > _EQUAL**2 else 0.0


def _overlap_variance(values: np.ndarray, folds: np.ndarray) -> float:
    """Return the variance of a mean that the training sets of several partitions have in common.

    This is test / train times the variance between training sets, see `compare_paired`. The latter
    is estimated by an analysis of variance over the folds of all partitions: the mean square of
    their mean residuals, minus what is expected from their questions. It has no bias, so it may be
    negative.

    Args:
        values, folds: Arrays [seeds, questions], as in `compare_paired`.
    """
    seeds, residuals = len(values), _residuals(values).ravel()
    partitions = np.arange(seeds)[:, None] * (folds.max() + 1)
    _, index, sizes = np.unique(folds + partitions, return_inverse=True, return_counts=True)
    means = np.bincount(index.ravel(), residuals) / sizes
    between, within = len(sizes) - seeds, residuals.size - len(sizes)  # degrees of freedom
    if not between or not within:
        return 0.0
    noise = ((residuals - means[index.ravel()]) ** 2).sum() / within * (1 / sizes).mean()
    # A question's mean over S seeds is subtracted. That takes a degree of freedom, and 1/S of the
    # effect of each training set.
    variance = ((means**2).sum() / between - noise) * (seeds / (seeds - 1)) ** 2
    return float(variance / folds.max())  # test / train of K folds, numbered to K - 1


def _residuals(values: np.ndarray) -> np.ndarray:
    """Return values [seeds, questions] without the means of seeds and of questions."""
    means = values.mean(axis=1, keepdims=True) + values.mean(axis=0) - values.mean()
    return values - means


def partial_conjunction(p_values: Sequence[float], needed: int) -> float:
    """Return the p-value of "at least `needed` of these n hypotheses are true".

    This is Bonferroni's form, valid for any dependence between the tests: (n - needed + 1) times
    the `needed`-th smallest p-value, at most 1 (Benjamini and Heller 2008, "Screening for partial
    conjunction hypotheses", Biometrics 64).

    Raises ValueError if `needed` is not between 1 and n.
    """
    count = len(p_values)
    if not 1 <= needed <= count:
        raise ValueError(f"{needed} of {count} hypotheses cannot be needed")
    return min(1.0, (count - needed + 1) * sorted(p_values)[needed - 1])


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted for multiple tests, in the given order.

    They control the family-wise error rate (Holm 1979, "A simple sequentially rejective multiple
    test procedure", Scandinavian Journal of Statistics 6).
    """
    order = np.argsort(p_values, kind="stable")
    factors = np.arange(len(order), 0, -1)
    adjusted = np.empty(len(order))
    adjusted[order] = np.minimum(1, np.maximum.accumulate(factors * np.asarray(p_values)[order]))
    return adjusted.tolist()


# The columns of a comparison in tables.
COMPARED = dict.fromkeys(["difference", "low", "high", "p_greater", "p_less"], "float64")


def pool_differences(
    differences: Sequence[float], errors: Sequence[float], level: float
) -> dict[str, float]:
    """Pool the differences of several data sets, weighted by the inverse of their variance.

    This is a fixed-effect meta-analysis (Borenstein et al. 2009, "Introduction to Meta-Analysis",
    chapter 11): the mean difference over these data sets. It says little where they disagree.

    Args:
        differences, errors: The difference and its standard error on each data set.
        level: The two-sided level of the interval.

    Returns:
        The columns COMPARED, the standard error, and `heterogeneity`, the p-value of Cochran's
        test of equal differences (1954, "The combination of estimates from different experiments").
    """
    weights = 1 / np.square(errors)
    mean, error = float(np.average(differences, weights=weights)), float(weights.sum() ** -0.5)
    reach = error * float(ndtri(1 - level / 2))
    statistic = float((weights * np.square(np.subtract(differences, mean))).sum())
    values = {
        "difference": mean,
        "low": mean - reach,
        "high": mean + reach,
        "p_greater": float(ndtr(-mean / error)),
        "p_less": float(ndtr(mean / error)),
        "error": error,
        "heterogeneity": float(chdtrc(len(weights) - 1, statistic)),
    }
    return {name: round(value, DECIMALS) for name, value in values.items()}


def compare_runs(
    names: tuple[str, str],
    first: pd.DataFrame,
    second: pd.DataFrame,
    level: float,
    same_runs: bool = False,
    unpaired: bool = False,
) -> Comparison:
    """Compare the scores [seeds, items] of two runs, whose names are for messages.

    `level` is that of `compare_paired`; `same_runs` is whether row i of both is from one run, and
    `unpaired`, whether the runs have different items on purpose, such as two subsets.

    Raises AnalogyQAError if the items differ and the runs are not `unpaired`.
    """
    both = first.to_numpy(), second.to_numpy()
    shared = shared_seeds(first), shared_seeds(second)
    if unpaired:
        return compare_unpaired(*both, level, (item_strata(first), item_strata(second)), shared)
    if list(first.columns) != list(second.columns):
        raise AnalogyQAError(
            f"The runs {names[0]} and {names[1]} have different questions. "
            "Give both the same ones; runs of a workflow are rebuilt if you delete both, then run "
            "the same command again."
        )
    strata, folds = item_strata(first), item_folds(first) if len(first) == len(second) else None
    return compare_paired(
        *both, level, same_runs=same_runs, strata=strata, shared=shared, folds=folds
    )


def share_runs(first: Cell, second: Cell, config: Config) -> bool:
    """Return whether each seed of two cells rests on the same random run.

    It does for systems that score with other weights of one training run, and for untrained systems
    over the same word2vec, which is trained once for each seed.
    """
    cells = (first, second)
    if any(config.uses_training(cell.system) for cell in cells):
        return len({cell.with_weights(config) for cell in cells}) == 1
    vectors = {config.system_at(cell.system, cell.overrides).word_vectors for cell in cells}
    name = config.systems[first.system].vectors
    return len(vectors) == 1 and name is not None and config.vectors[name].is_word2vec


def compare_with_best(
    runs: Mapping[str, pd.DataFrame], level: float
) -> tuple[dict[str, dict[str, float]], set[str]]:
    """Return the comparisons of the best run with the others, by their names, and the top group.

    The group has the run with the highest mean and those not significantly different from it, by
    paired two-sided tests at a level, with Holm's correction. `runs` are scores [seeds, items] by
    name.

    Raises AnalogyQAError if their items differ.
    """
    if not runs:
        return {}, set()
    best = max(runs, key=lambda name: runs[name].to_numpy().mean())
    compared = {
        name: compare_runs((best, name), runs[best], scores, level).rounded()
        for name, scores in runs.items()
        if name != best
    }
    adjusted = holm([row_p_value(row) for row in compared.values()])
    return compared, {best, *(n for n, p in zip(compared, adjusted, strict=True) if p >= level)}


def row_p_value(row: dict) -> float:
    """Return the two-sided p-value of a row with both one-sided p-values."""
    return min(1.0, 2 * min(row["p_greater"], row["p_less"]))


def p_text(p_value: float, equals: str = "") -> str:
    """Return a two-sided p-value as text, after `equals`: "≤ 0.0002" if no draw was as extreme."""
    floor = round(2 / (1 + SAMPLES), DECIMALS)
    return f"≤ {floor:.2g}" if p_value <= floor else f"{equals}{p_value:.2g}"


def significance_level(bootstrap: Bootstrap) -> float:
    """Return the level of all tests: the complement of the confidence of intervals."""
    return round(1 - bootstrap.confidence, DECIMALS)
