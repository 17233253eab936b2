"""The spread over runs, over questions and over the points of a curve."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analogyqa.report.spread import shares_of_best, summarise

matrices = st.integers(1, 4).flatmap(
    lambda items: st.lists(
        st.lists(st.floats(0, 1), min_size=items, max_size=items), min_size=1, max_size=4
    )
)


def test_the_standard_deviation_is_over_the_means_of_the_seeds():
    summary = summarise(np.array([[0.0, 0.5], [0.5, 1.0]]), 200, 0.95)
    assert summary.mean == 0.5
    assert summary.sd == pytest.approx(np.std([0.25, 0.75], ddof=1))
    of_one_seed = summarise(np.array([[0.0, 1.0, 0.0, 1.0]]), 500, 0.95)
    assert of_one_seed.sd == 0
    assert of_one_seed.ci_low < 0.5 < of_one_seed.ci_high


@given(matrices)
def test_the_interval_over_questions_of_one_seed_lies_within_the_values(values):
    summary = summarise(np.array(values[:1]), 200, 0.95)
    low, high = np.min(values[0]), np.max(values[0])
    assert low - 1e-9 <= summary.ci_low <= summary.ci_high <= high + 1e-9


def test_the_interval_contains_the_mean_and_narrows_with_more_items():
    generator = np.random.default_rng(0)
    widths = []
    for items in (10, 1000):
        summary = summarise(generator.random((3, items)), 500, 0.95)
        assert summary.ci_low < summary.mean < summary.ci_high
        widths.append(summary.ci_high - summary.ci_low)
    assert widths[1] < widths[0] / 3


def test_no_interval_passes_what_a_mean_can_be():
    # Of the second item twice as much was asked as of the first.
    summary = summarise(np.array([[0.6, 1.3]]), 200, 0.95, largest=1)
    assert summary.ci_low == pytest.approx(0.6) and summary.ci_high == 1


def test_the_interval_has_the_width_that_theory_gives():
    values = np.random.default_rng(1).normal(size=(1, 400))
    summary = summarise(values, 4000, 0.95)
    half = 1.96 * values.std() / np.sqrt(400)
    assert summary.ci_high - summary.mean == pytest.approx(half, rel=0.1)
    assert summary.mean - summary.ci_low == pytest.approx(half, rel=0.1)


def test_a_higher_confidence_is_a_wider_interval_and_the_same_values_give_the_same():
    values = np.random.default_rng(2).random((3, 20))
    narrow, wide = (summarise(values, 500, confidence) for confidence in (0.8, 0.99))
    assert wide.ci_low < narrow.ci_low < narrow.ci_high < wide.ci_high
    assert summarise(values, 500, 0.8) == narrow
    assert wide.run_low < narrow.run_low < narrow.mean < narrow.run_high < wide.run_high


def test_the_interval_of_a_further_run_is_that_of_student_and_one_seed_has_none():
    summary = summarise(np.array([[0.5], [0.6], [0.7]]), 200, 0.95)
    reach = 4.302653 * 0.1 * np.sqrt(4 / 3)  # t with 2 degrees of freedom
    assert summary.run_high - summary.mean == pytest.approx(reach)
    assert summary.mean - summary.run_low == pytest.approx(reach)
    assert np.isnan(summarise(np.array([[0.5, 1.0]]), 200, 0.95).run_low)


def test_no_further_run_is_expected_where_no_value_can_lie():
    summary = summarise(np.array([[0.1], [0.9]]), 200, 0.95, largest=1.0)
    assert (summary.run_low, summary.run_high) == (0, 1)


@pytest.mark.parametrize("seeds", [5, 10])
def test_a_further_run_lies_in_its_interval_95_times_in_a_hundred(seeds):
    """Runs share the questions, differ by seed, and each does well on questions of its own."""
    generator, trials, inside = np.random.default_rng(seeds), 2000, 0
    for _ in range(trials):
        questions = generator.normal(0.6, 0.3, (1, 40))
        runs = questions + generator.normal(0, 0.03, (seeds + 1, 1))
        runs = runs + generator.normal(0, 0.2, (seeds + 1, 40))
        summary = summarise(runs[1:], 100, 0.95)
        inside += summary.run_low <= runs[0].mean() <= summary.run_high
    assert 0.93 <= inside / trials <= 0.97


def test_few_seeds_are_not_taken_for_more_certain_than_they_are():
    """Seeds that alone make the spread: that of their mean, not less by (n - 1) / n."""
    values = np.random.default_rng(0).normal(size=(3, 1)) + np.zeros((3, 50))
    summary = summarise(values, 20_000, 0.6827)  # one standard deviation to both sides
    half = (summary.ci_high - summary.ci_low) / 2
    assert half == pytest.approx(summary.sd / np.sqrt(3), rel=0.25)


def test_the_best_point_of_a_curve_is_as_sure_as_its_lead():
    generator = np.random.default_rng(1)
    curve = [mean + generator.normal(0, 0.2, (5, 60)) for mean in (0.2, 0.9, 0.2)]
    assert shares_of_best(curve, 500).tolist() == [0, 1, 0]
    alike = [0.5 + generator.normal(0, 0.2, (5, 60)) for _ in range(3)]
    shares = shares_of_best(alike, 500)
    assert shares.sum() == pytest.approx(1) and shares.max() < 1


def test_points_that_are_equal_share_the_win():
    assert shares_of_best([np.full((2, 3), 0.5)] * 4, 100).tolist() == [0.25] * 4
