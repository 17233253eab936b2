"""Tests between systems: known values, properties, and how often a true null is rejected."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from analogyqa.evaluation.significance import (
    Comparison,
    compare_paired,
    compare_unpaired,
    holm,
    p_text,
    partial_conjunction,
    pool_differences,
    row_p_value,
)

UNIT = st.floats(0, 1)
P_VALUES = st.lists(UNIT, min_size=1, max_size=8)
# The reciprocal ranks and average precisions of real questions are as coarse as this.
COARSE = st.sampled_from([0.0, 0.25, 0.5, 1.0])
DRAW_ERROR = 0.04


def values(seeds: int) -> st.SearchStrategy[np.ndarray]:
    return arrays(float, (seeds, 6), elements=COARSE)


def paired_p_values(*values: np.ndarray, **options) -> tuple[float, float, float]:
    """Return the difference, and the p-values of "greater" and "less"."""
    compared = compare_paired(*values, **options)
    return compared.difference, compared.p_greater, compared.p_less


class TestPairedPValues:
    def test_a_few_questions_have_the_exact_distribution_of_their_signs(self):
        differences = np.array([[0.4, 0.3, -0.2, 0.1]])
        signs = np.array(np.meshgrid(*[[-1, 1]] * 4)).reshape(4, -1)
        exact = np.mean(differences @ signs >= differences.sum() - 1e-9)
        greater = paired_p_values(differences, np.zeros((1, 4)))[1]
        assert greater == pytest.approx(exact, abs=0.02)

    def test_the_observed_value_counts_as_one_draw(self):
        greater = paired_p_values(np.ones((1, 60)), np.zeros((1, 60)), samples=99)[1]
        assert greater == 0.01

    @given(st.integers(1, 3).flatmap(values))
    def test_identical_values_are_no_evidence(self, same):
        assert paired_p_values(same, same.copy()) == (0, 1, 1)

    @settings(max_examples=20)
    @given(values(3), values(2))
    def test_swapping_the_systems_swaps_the_directions(self, first, second):
        difference, greater, less = paired_p_values(first, second)
        swapped = paired_p_values(second, first)
        assert swapped == pytest.approx((-difference, less, greater), abs=DRAW_ERROR)

    @settings(max_examples=20)
    @given(values(2), values(3))
    def test_the_two_one_sided_p_values_add_up_to_at_least_one(self, first, second):
        _, greater, less = paired_p_values(first, second)
        assert 0 < greater <= 1 and 0 < less <= 1
        assert greater + less >= 1

    @settings(max_examples=20)
    @given(values(2), values(2), st.floats(0.05, 1))
    def test_a_better_first_system_never_looks_worse(self, first, second, gain):
        better = paired_p_values(first + gain, second)
        assert better[0] > paired_p_values(first, second)[0]
        assert better[1] <= paired_p_values(first, second)[1] + DRAW_ERROR

    def test_copies_of_a_seed_add_no_evidence(self):
        first, second = np.random.default_rng(1).random((2, 1, 20))
        once = paired_p_values(first, second)
        assert paired_p_values(np.repeat(first, 9, axis=0), second) == pytest.approx(once)

    def test_seeds_that_disagree_weaken_the_evidence(self):
        shift = np.array([[-0.4], [0.0], [0.4]])
        steady = paired_p_values(np.full((3, 40), 0.7), np.full((3, 40), 0.5))[1]
        varying = paired_p_values(0.7 + shift + np.zeros((3, 40)), np.full((3, 40), 0.5))[1]
        assert steady < 0.001
        assert varying > 0.05

    def test_measures_of_one_run_share_seed_variance(self):
        lower = np.full((3, 40), 0.5) + np.array([[-0.4], [0.0], [0.4]])
        apart = paired_p_values(lower + 0.05, lower)[1]
        together = paired_p_values(lower + 0.05, lower, same_runs=True)[1]
        assert apart > 0.2
        assert together < 0.001

    @pytest.mark.parametrize(
        ("shapes", "same_runs"), [(((1, 3), (1, 4)), False), (((2, 3), (1, 3)), True)]
    )
    def test_values_that_cannot_be_paired_are_refused(self, shapes, same_runs):
        with pytest.raises(ValueError, match="cannot be paired"):
            paired_p_values(*map(np.zeros, shapes), same_runs=same_runs)


def systems(
    generator: np.random.Generator, seeds: int, items: int, scale: float = 1.0
) -> list[np.ndarray]:
    """Return two equally good systems that vary over questions, over seeds and over both."""
    return [
        scale * generator.normal(0, 0.1, (1, items))
        + scale * generator.normal(0, 0.005, (seeds, 1))
        + scale * generator.normal(0, 0.05, (seeds, items))
        for _ in range(2)
    ]


TRIALS = 2000  # the standard error of a rate of .05 is then .005


@pytest.fixture(scope="module", params=[5, 10], ids="{} seeds".format)
def equal(request) -> list[Comparison]:
    """Comparisons of systems that are equally good."""
    generator = np.random.default_rng(request.param)
    pairs = (systems(generator, request.param, 60) for _ in range(TRIALS))
    return [compare_paired(*pair, samples=400) for pair in pairs]


class TestErrorRates:
    """By simulation: how often a true hypothesis is rejected."""

    def test_a_true_null_is_rejected_five_times_in_a_hundred(self, equal):
        p_values = [min(comparison.p_greater, comparison.p_less) for comparison in equal]
        rejected = sum(p_value < 0.025 for p_value in p_values)
        assert 0.04 <= rejected / TRIALS <= 0.06

    def test_the_interval_covers_the_true_difference_95_times_in_a_hundred(self, equal):
        covered = sum(comparison.low <= 0 <= comparison.high for comparison in equal)
        assert 0.93 <= covered / TRIALS <= 0.97

    def test_a_difference_at_the_bound_is_called_equivalent_five_times_in_a_hundred(self):
        generator, equivalent = np.random.default_rng(0), 0
        for _ in range(TRIALS):
            first, second = systems(generator, 5, 60, 0.4)
            compared = compare_paired(first + 0.03, second, samples=400)
            equivalent += compared.p_equivalent(0.03) < 0.05
        assert 0.04 <= equivalent / TRIALS <= 0.06


def cross_validated(
    generator: np.random.Generator, seeds: int, effect: float, questions: int = 100
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return two equally good systems in five folds, a partition for each seed, and the folds.

    Each training set has an effect of its own on each system, with this standard deviation. Any two
    have the correlation that Nadeau and Bengio (2003) assume, 1/5. The variance over all questions
    is that of 391 questions with real reciprocal ranks.
    """
    scale = questions**0.5
    folds = generator.permuted(np.tile(np.arange(questions) % 5, (seeds, 1)), axis=1)
    systems = []
    for _ in range(2):
        by_fold = effect * generator.normal(0, 0.8**0.5, (seeds, 5))
        by_fold += effect * generator.normal(0, 0.2**0.5)
        systems.append(
            generator.normal(0, 0.009 * scale, questions)
            + generator.normal(0, 0.01, (seeds, 1))
            + generator.normal(0, 0.01 * scale, (seeds, questions))
            + np.take_along_axis(by_fold, folds, axis=1)
        )
    return *systems, folds


def error_rates(seeds: int, effect: float, questions: int) -> list[float]:
    """Return how often a null, and a difference at the margin of equivalence, are rejected."""
    generator, rejected = np.random.default_rng(1), []
    for _ in range(TRIALS):
        *pair, folds = cross_validated(generator, seeds, effect, questions)
        compared = compare_paired(*pair, samples=400, folds=folds)
        at_margin = replace(compared, difference=compared.difference + 0.08)
        p_value = 2 * min(compared.p_greater, compared.p_less)
        rejected.append((p_value < 0.05, at_margin.p_equivalent(0.08) < 0.05))
    return np.mean(rejected, axis=0).tolist()


class TestCrossValidation:
    """By simulation of all of it: questions, seeds, partitions and effects of training sets."""

    @pytest.mark.parametrize(
        ("seeds", "effect", "questions"),
        [
            (5, 0.02, 100),
            pytest.param(3, 0.02, 391, marks=[pytest.mark.slow, pytest.mark.draw]),
            *(
                pytest.param(*case, 391, marks=pytest.mark.slow)
                for case in [(3, 0.03), (5, 0), (5, 0.02), (5, 0.03), (10, 0.02), (10, 0.03)]
            ),
        ],
    )
    def test_a_true_null_is_rejected_five_times_in_a_hundred(self, seeds, effect, questions):
        for rate in error_rates(seeds, effect, questions):
            assert 0.04 <= rate <= 0.06

    def test_the_variance_is_that_of_the_mean_over_data_sets(self):
        generator, variances, means = np.random.default_rng(1), [], []
        for _ in range(1000):
            first, second, folds = cross_validated(generator, 4, 0.05)
            compared = compare_paired(first, second, samples=1, folds=folds)
            variances.append(compared.item_variance + compared.seed_variance)
            means.append(compared.difference)
        assert np.mean(variances) == pytest.approx(np.var(means), rel=0.1)

    def test_one_partition_shows_no_variance_of_training_sets(self):
        first, second, folds = cross_validated(np.random.default_rng(2), 3, 0.03)
        folds[:] = folds[0]
        compared = compare_paired(first, second, folds=folds)
        assert compared.seed_variance == compare_paired(first, second).seed_variance


class TestPower:
    def test_a_detectable_difference_is_significant_four_times_in_five(self):
        generator = np.random.default_rng(3)
        detectable = compare_paired(*systems(generator, 5, 60)).detectable
        rejected = [
            compare_paired(first + detectable, second, samples=400).p_greater < 0.025
            for first, second in (systems(generator, 5, 60) for _ in range(300))
        ]
        assert 0.7 < np.mean(rejected) < 0.9

    def test_power_grows_with_the_effect_from_half_the_level(self):
        compared = compare_paired(*systems(np.random.default_rng(4), 5, 60))
        powers = [compared.power(effect) for effect in (0.0, 0.01, 0.03, 0.1)]
        assert powers == sorted(powers) and powers[0] == pytest.approx(0.025, abs=0.01)
        assert compared.power(-0.03) == pytest.approx(powers[2], abs=0.03)
        assert compared.power(compared.detectable) == pytest.approx(0.8, abs=0.01)

    def test_a_smaller_effect_needs_more_items_or_cannot_be_detected(self):
        compared = compare_paired(*systems(np.random.default_rng(5), 5, 60))
        assert compared.items_needed(compared.detectable, 60) == pytest.approx(60, abs=1)
        assert compared.items_needed(compared.detectable / 2, 60) > 4 * 59
        assert compared.items_needed(1e-6, 60) == np.inf

    def test_one_item_is_enough_if_nothing_varies(self):
        compared = compare_paired(np.full((2, 3), 0.75), np.full((2, 3), 0.5))
        assert compared.items_needed(0.25, 3) == 1


class TestPartialConjunction:
    # 3 * 0.01, 2 * 0.02, 1 * 0.5
    @pytest.mark.parametrize(("needed", "expected"), [(1, 0.03), (2, 0.04), (3, 0.5)])
    def test_the_needed_p_value_is_corrected_for_the_choice(self, needed, expected):
        assert partial_conjunction([0.5, 0.01, 0.02], needed) == pytest.approx(expected)

    @given(P_VALUES, st.data())
    def test_the_p_value_never_falls_if_one_of_its_parts_grows(self, p_values, data):
        needed = data.draw(st.integers(1, len(p_values)))
        index = data.draw(st.integers(0, len(p_values) - 1))
        larger = list(p_values)
        larger[index] = data.draw(st.floats(p_values[index], 1))
        assert 0 <= partial_conjunction(p_values, needed) <= 1
        assert partial_conjunction(p_values, needed) <= partial_conjunction(larger, needed)

    @pytest.mark.parametrize("needed", [0, 3])
    def test_an_impossible_number_of_needed_comparisons_is_refused(self, needed):
        with pytest.raises(ValueError, match="cannot be needed"):
            partial_conjunction([0.1, 0.2], needed)


class TestHolm:
    def test_adjusted_p_values_keep_the_order_and_the_running_maximum(self):
        assert holm([0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.03, 0.06])

    @given(P_VALUES)
    def test_adjusted_p_values_lie_between_the_raw_and_the_bonferroni_ones(self, p_values):
        for raw, adjusted in zip(p_values, holm(p_values), strict=True):
            assert raw <= adjusted <= min(1, raw * len(p_values))


def test_means_over_different_questions_are_compared_as_two_samples():
    random = np.random.default_rng(0)
    first, second = random.normal(0.6, 0.2, (1, 80)), random.normal(0.4, 0.3, (1, 50))
    compared = compare_unpaired(first, second)
    assert compared.difference == pytest.approx(first.mean() - second.mean())
    error = np.sqrt(first.var(ddof=1) / 80 + second.var(ddof=1) / 50)
    assert (compared.high - compared.low) / 2 == pytest.approx(1.96 * error, rel=0.05)
    assert compared.p_greater < 0.001 < compared.p_less
    reversed_ = compare_unpaired(second, first)
    assert reversed_.p_less == pytest.approx(compared.p_greater, abs=1e-3)


def test_equal_values_on_different_questions_are_no_evidence():
    values = np.full((2, 9), 0.3)
    assert compare_unpaired(values, values[:, :5]).p_greater == 1


def test_each_stratum_uses_up_a_degree_of_freedom():
    strata = np.repeat(np.arange(20), 4)
    first, second = np.random.default_rng(1).normal(size=(2, 1, 80))
    paired = compare_paired(first, second, strata=strata)
    variances = [np.var(part, ddof=1) for part in np.split((first - second)[0], 20)]
    error = np.sqrt(4 * sum(variances)) / 80
    assert (paired.high - paired.low) / 2 == pytest.approx(1.96 * error, rel=0.05)


def test_deviations_are_from_the_mean_of_each_stratum():
    random = np.random.default_rng(0)
    strata = np.repeat([0, 1], 40)
    first = np.where(strata == 0, 3.0, 0.2) + random.normal(0, 0.1, (1, 80))
    second = np.where(strata == 0, 2.0, 0.2) + random.normal(0, 0.1, (1, 80))
    paired = compare_paired(first, second, strata=strata)
    assert paired.difference == compare_paired(first, second).difference
    error = np.sqrt(sum(np.var(part, ddof=1) for part in np.split((first - second)[0], 2)) / 160)
    assert (paired.high - paired.low) / 2 == pytest.approx(1.96 * error, rel=0.05)
    unpaired = compare_unpaired(first, second[:, :60], strata=(strata, strata[:60]))
    one_stratum = compare_unpaired(first, second[:, :60])
    assert unpaired.high - unpaired.low < 0.1 < one_stratum.high - one_stratum.low


def test_the_variance_of_seeds_of_ensembles_is_that_of_their_models():
    """Two models in each ensemble, each in two ensembles: the mean is that of all five models."""
    random, variances = np.random.default_rng(0), []
    for models in random.normal(size=(500, 5, 1)):
        ensembles = (models + np.roll(models, -1, axis=0)) / 2
        first, second = np.repeat(ensembles, 20, axis=1), np.zeros((1, 20))
        variances.append(compare_paired(first, second, samples=1, shared=(2, 1)).seed_variance)
    assert np.mean(variances) == pytest.approx(1 / 5, rel=0.1)


@pytest.mark.parametrize(("greater", "less", "two_sided"), [(0.01, 0.99, 0.02), (0.6, 0.6, 1.0)])
def test_the_two_sided_p_value_is_twice_the_smaller_one_and_at_most_one(greater, less, two_sided):
    assert row_p_value({"p_greater": greater, "p_less": less}) == two_sided


def test_the_smallest_p_value_of_the_draws_is_a_bound():
    values = np.random.default_rng(0).random((1, 60))
    compared = compare_paired(values + 1, values)
    assert p_text(row_p_value(compared.rounded()), "= ") == "≤ 0.0002"
    assert (p_text(0.0003, "= "), p_text(0.12)) == ("= 0.0003", "0.12")


def test_pooled_differences_are_weighted_by_their_precision():
    """By hand: weights 100 and 25 give a mean of (100 x .1 - 25 x .1) / 125, and Q = .8."""
    pooled = pool_differences([0.1, -0.1], [0.1, 0.2], 0.05)
    assert pooled["difference"] == pytest.approx(0.06)
    assert pooled["error"] == pytest.approx(125**-0.5, abs=1e-6)
    assert pooled["high"] - pooled["difference"] == pytest.approx(1.96 / 125**0.5, abs=1e-4)
    assert pooled["p_greater"] + pooled["p_less"] == pytest.approx(1)
    assert pooled["heterogeneity"] == pytest.approx(0.3711, abs=1e-4)
