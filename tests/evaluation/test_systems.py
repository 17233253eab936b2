"""Scores of any systems: read from a table, compared and ranked; known values and error rates."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import permutation_test, ttest_rel

from analogyqa.errors import AnalogyQAError
from analogyqa.evaluation import compare_systems, rank_systems, read_scores


def frame(values: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame(values, columns=[f"q{item:03}" for item in range(values.shape[1])])


@given(st.randoms(use_true_random=False), st.sampled_from(",;\t"))
def test_a_table_gives_frames_whatever_the_order_of_its_rows(tmp_path_factory, random, delimiter):
    values = {key: random.random() for key in product(("a b", "c"), ("1", "2", "10"), ("x", "y"))}
    rows = [[*key, str(value)] for key, value in values.items()]
    random.shuffle(rows)
    lines = map(delimiter.join, [["system", "seed", "item", "value"], *rows])
    path = tmp_path_factory.mktemp("scores") / "scores.csv"
    path.write_text("\n".join(lines))
    frames = read_scores(path)
    assert {
        (system, seed, item): value
        for system, by_seed in frames.items()
        for item, of_item in by_seed.items()
        for seed, value in of_item.items()
    } == values
    assert all(list(by_seed.columns) == ["x", "y"] for by_seed in frames.values())


def test_groups_start_with_the_best_of_the_systems_that_are_left():
    noise = 0.02 * np.random.default_rng(0).normal(size=(5, 3, 40))
    means = [0.5, 0.9, 0.902, 0.5, 0.1]
    systems = {name: frame(means[at] + noise[at]) for at, name in enumerate("abcde")}
    ranked = rank_systems(systems).set_index("system")
    assert ranked["group"].to_dict() == {"b": 1, "c": 1, "a": 2, "d": 2, "e": 3}
    assert ranked.index.tolist()[-1] == "e" and ranked["group"].is_monotonic_increasing
    assert (ranked["low"] < ranked["mean"]).all() and (ranked["mean"] < ranked["high"]).all()
    assert ranked.loc["e", ["rank_low", "rank_high"]].tolist() == [5, 5]


@pytest.mark.parametrize("items", [8, 200])
def test_with_one_seed_the_test_is_that_of_scipy(items):
    first, second = np.random.default_rng(items).random((2, 1, items))
    compared = compare_systems(frame(first), frame(second + 0.05))
    by_item = (second + 0.05 - first)[0]
    assert compared["difference"] == pytest.approx(by_item.mean(), abs=1e-6)
    # All 256 signs of 8 items; 10,000 random ones of 200, which are close to Student's t.
    permuted = permutation_test((by_item,), np.mean, permutation_type="samples", rng=0)
    assert compared["p_value"] == pytest.approx(permuted.pvalue, abs=0.02)
    if items > 100:
        student = ttest_rel(second[0] + 0.05, first[0])
        assert compared["p_value"] == pytest.approx(student.pvalue, abs=0.02)
        low, high = student.confidence_interval(0.95)
        assert [compared["low"], compared["high"]] == pytest.approx([low, high], abs=0.003)


def test_systems_with_other_items_are_refused():
    with pytest.raises(AnalogyQAError, match="one and two have different questions"):
        compare_systems(frame(np.ones((2, 3))), frame(np.ones((2, 4))), names=("two", "one"))


def equally_good(generator: np.random.Generator, seeds: int) -> list[pd.DataFrame]:
    """Return reciprocal ranks of two systems, which vary over 41 questions and over seeds."""
    questions = generator.normal(size=41)
    systems = []
    for _ in range(2):
        ranks = questions + generator.normal(0, 0.8, 41) + generator.normal(0, 0.3, (seeds, 1))
        ranks = np.exp(ranks + generator.normal(0, 0.8, (seeds, 41)))
        systems.append(frame(1 / np.ceil(ranks).clip(1, 12)))
    return systems


@pytest.mark.parametrize(
    ("trials", "seeds", "lowest", "highest"),
    [
        (300, 5, 0.02, 0.09),
        pytest.param(2000, 2, 0.05, 0.09, marks=pytest.mark.slow),  # few seeds: a little too often
        pytest.param(2000, 5, 0.04, 0.06, marks=pytest.mark.slow),
        pytest.param(2000, 10, 0.04, 0.06, marks=pytest.mark.slow),
    ],
)
def test_a_true_null_is_rejected_five_times_in_a_hundred(trials, seeds, lowest, highest):
    generator = np.random.default_rng(seeds)
    pairs = (equally_good(generator, seeds) for _ in range(trials))
    rejected = sum(compare_systems(*pair)["p_value"] < 0.05 for pair in pairs)
    assert lowest <= rejected / trials <= highest
