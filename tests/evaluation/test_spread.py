"""The spread over runs, over questions, and over the points of a curve."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analogyqa.evaluation.spread import (
    best_shares,
    bootstrap_means,
    coefficient_of_variation,
    inflation,
    interval_of_runs,
    summarise,
)

matrices = st.integers(1, 4).flatmap(
    lambda items: st.lists(
        st.lists(st.floats(0, 1), min_size=items, max_size=items), min_size=1, max_size=4
    )
)


def test_sd_is_the_standard_deviation_of_the_seed_means():
    summary = summarise(np.array([[0.0, 0.5], [0.5, 1.0]]), 200, 0.95)
    assert summary["mean"] == 0.5
    assert summary["sd"] == pytest.approx(np.std([0.25, 0.75], ddof=1))
    one_seed = summarise(np.array([[0.0, 1.0, 0.0, 1.0]]), 500, 0.95)
    assert one_seed["sd"] == 0
    assert one_seed["ci_low"] < 0.5 < one_seed["ci_high"]


@given(matrices)
def test_the_interval_of_one_seed_is_within_its_values(values):
    summary = summarise(np.array(values[:1]), 200, 0.95)
    low, high = np.min(values[0]), np.max(values[0])
    assert low - 1e-9 <= summary["ci_low"] <= summary["ci_high"] <= high + 1e-9


def test_intervals_are_cut_off_at_the_largest_mean():
    # A weighted item may exceed the largest mean.
    summary = summarise(np.array([[0.6, 1.3]]), 200, 0.95, largest=1)
    assert summary["ci_low"] == pytest.approx(0.6) and summary["ci_high"] == 1


def test_intervals_of_negative_values_are_not_cut_off_at_zero():
    summary = summarise(np.array([[-0.5], [-0.6]]), 200, 0.95, smallest=-1)
    assert summary["mean"] == pytest.approx(-0.55)
    assert summary["run_low"] == -1 and -0.65 < summary["ci_low"] < summary["ci_high"] < -0.45
    assert summarise(np.array([[-0.5], [-0.6]]), 200, 0.95)["run_low"] == 0
    assert interval_of_runs(0.1, 0.5, 2, 0.95, runs=1)[0] == 0


def test_the_interval_has_its_theoretical_width():
    values = np.random.default_rng(1).normal(size=(1, 400))
    summary = summarise(values, 4000, 0.95, smallest=-np.inf)
    half = 1.96 * values.std() / np.sqrt(400)
    assert summary["ci_high"] - summary["mean"] == pytest.approx(half, rel=0.1)
    assert summary["mean"] - summary["ci_low"] == pytest.approx(half, rel=0.1)


@pytest.mark.parametrize(("seeds", "shared"), [(3, 1), (3, 2), (5, 2), (5, 3)])
def test_the_prediction_interval_covers_an_ensemble_of_new_models(seeds, shared):
    """Each of the ensembles has models of `shared` neighbouring seeds."""
    random = np.random.default_rng(0)
    models, new = random.normal(size=(4000, seeds)), random.normal(size=(4000, shared))
    ensembles = np.mean([np.roll(models, -shift, axis=1) for shift in range(shared)], axis=0)
    covered = [
        low <= one.mean() <= high
        for of_seeds, one in zip(ensembles, new, strict=True)
        for sd in [of_seeds.std(ddof=1) * inflation(seeds, shared)]
        for low, high in [
            interval_of_runs(of_seeds.mean(), sd, seeds, 0.95, 1, smallest=-np.inf, shared=shared)
        ]
    ]
    assert np.mean(covered) == pytest.approx(0.95, abs=0.025)


def test_the_bootstrap_of_ensembles_has_the_spread_of_their_models():
    """The mean of the ensembles is that of the models."""
    random, ratios = np.random.default_rng(0), []
    for models in random.normal(size=(100, 6, 1)):
        ensembles = (models + np.roll(models, -1, axis=0)) / 2
        ratios.append(bootstrap_means(ensembles, 1000, stream=0, shared=2).var() * 6)
    assert np.mean(ratios) == pytest.approx(1, rel=0.15)


def test_ensembles_of_the_same_models_have_no_prediction_interval():
    summary = summarise(np.full((3, 4), 0.5), 200, 0.95, shared=3)
    assert summary["sd"] == 0 and np.isnan(summary["run_low"])


def test_a_higher_confidence_gives_wider_intervals():
    values = np.random.default_rng(2).random((3, 20))
    narrow, wide = (summarise(values, 500, confidence) for confidence in (0.8, 0.99))
    assert wide["ci_low"] < narrow["ci_low"] < narrow["ci_high"] < wide["ci_high"]
    assert summarise(values, 500, 0.8) == narrow
    assert (
        wide["run_low"] < narrow["run_low"] < narrow["mean"] < narrow["run_high"] < wide["run_high"]
    )


def test_the_prediction_interval_follows_the_t_distribution():
    summary = summarise(np.array([[0.5], [0.6], [0.7]]), 200, 0.95)
    reach = 4.302653 * 0.1 * np.sqrt(4 / 3)  # t with 2 degrees of freedom
    assert summary["run_high"] - summary["mean"] == pytest.approx(reach)
    assert summary["mean"] - summary["run_low"] == pytest.approx(reach)
    assert np.isnan(summarise(np.array([[0.5, 1.0]]), 200, 0.95)["run_low"])


def test_the_prediction_interval_stays_within_the_possible_values():
    summary = summarise(np.array([[0.1], [0.9]]), 200, 0.95, largest=1.0)
    assert (summary["run_low"], summary["run_high"]) == (0, 1)


@pytest.mark.parametrize("seeds", [5, 10])
def test_the_prediction_interval_covers_95_percent_of_runs(seeds):
    """Runs share the questions; the effects of seeds, and of seeds on questions, are random."""
    generator, trials, covered = np.random.default_rng(seeds), 2000, 0
    for _ in range(trials):
        questions = generator.normal(0.6, 0.3, (1, 40))
        runs = questions + generator.normal(0, 0.03, (seeds + 1, 1))
        runs = runs + generator.normal(0, 0.2, (seeds + 1, 40))
        summary = summarise(runs[1:], 100, 0.95)
        covered += summary["run_low"] <= runs[0].mean() <= summary["run_high"]
    assert 0.93 <= covered / trials <= 0.97


@pytest.mark.parametrize("seeds", [2, 3])
def test_the_spread_of_few_seeds_is_not_too_small(seeds):
    """If only seeds vary, the spread is that of their mean, not smaller by (n - 1) / n."""
    values = np.random.default_rng(0).normal(5, size=(seeds, 1)) + np.zeros((seeds, 50))
    means = bootstrap_means(values, 20_000, stream=0)
    assert means.mean() == pytest.approx(values.mean(), rel=0.01)
    assert means.std() == pytest.approx(values[:, 0].std(ddof=1) / np.sqrt(seeds), rel=0.05)


def test_draws_within_strata_keep_the_weight_of_each_stratum():
    # All values of a stratum are equal, so only the number of its items could vary.
    values, strata = np.array([[2.0, 2, 0.5, 0.5, 0.5]]), np.array([0, 0, 1, 1, 1])
    assert bootstrap_means(values, 300, 0).std() > 0.1
    assert bootstrap_means(values, 300, 0, strata) == pytest.approx(np.full(300, 1.1))
    # The mean of two values drawn from 0 and 1 is 0, 1/2 or 1; the other stratum adds nothing.
    means = bootstrap_means(np.array([[0.0, 1, 0]]), 4000, 0, np.array([0, 0, 1]))
    assert sorted(set(means.round(6))) == [0, 0.333333, 0.666667]
    assert (means == 0).mean() == pytest.approx(0.25, abs=0.03)
    summary = summarise(values, 300, 0.95, strata=strata)
    assert summary["ci_low"] == pytest.approx(1.1) and summary["ci_high"] == pytest.approx(1.1)


def test_means_do_not_depend_on_the_order_in_which_a_processor_adds(monkeypatch):
    values = 1 / np.random.default_rng(0).integers(1, 9, (1, 16))  # reciprocal ranks
    means, add = bootstrap_means(values, 500, 0), np.einsum

    def add_backwards(rule, seeds, scores, items, **options):
        return add(rule, seeds, scores[:, ::-1], items[:, ::-1], **options)

    monkeypatch.setattr(np, "einsum", add_backwards)
    assert np.array_equal(bootstrap_means(values, 500, 0), means)


def shares(curve: list[np.ndarray], samples: int) -> np.ndarray:
    return best_shares(
        np.stack([bootstrap_means(point, samples, stream) for stream, point in enumerate(curve)])
    )


def test_a_clear_lead_is_always_the_best():
    generator = np.random.default_rng(1)
    curve = [mean + generator.normal(0, 0.2, (5, 60)) for mean in (0.2, 0.9, 0.2)]
    assert shares(curve, 500).tolist() == [0, 1, 0]
    equal = shares([0.5 + generator.normal(0, 0.2, (5, 60)) for _ in range(3)], 500)
    assert equal.sum() == pytest.approx(1) and equal.max() < 1


def test_equal_points_share_each_draw():
    assert shares([np.full((2, 3), 0.5)] * 4, 100).tolist() == [0.25] * 4


@pytest.mark.parametrize(
    ("values", "printed"),
    [
        ([84.51, 84.50, 87.46, 85.60, 84.20, 86.61, 86.20], 1.562),
        ([31.11, 30.28, 31.11, 29.12], 3.572),
    ],
)
def test_the_coefficient_of_variation_is_that_of_belz_et_al(values, printed):
    """Table 4 of Belz, Popović and Mille (2022)."""
    spread = np.mean(values), np.std(values, ddof=1)
    assert coefficient_of_variation(*spread, len(values)) == pytest.approx(printed, abs=5e-4)
    assert np.isnan(coefficient_of_variation(*spread, 1))
