"""How many runs can give a printed mean."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analogyqa.evaluation.published import compare_numbers
from analogyqa.evaluation.summary import Results
from analogyqa.evaluation.verdicts import runs_needed
from builders.report import CONFERENCE, make_config, make_summary


@pytest.mark.parametrize(
    ("published", "measure", "items", "expected"),
    [
        # Seven ones and 1/2 make .938; in five runs, 39 ones and 1/4 make .98125.
        (0.981, "mrr", 8, 5),
        # Ten ones and 1/4 make .932, and with 1/5 it is .927; in two runs, 20 ones, 1/4 and 1/5
        # make .9295, which is .929 if it is cut off.
        (0.929, "mrr", 11, 2),
        (0.938, "mrr", 8, 1),  # rounded
        (0.937, "mrr", 8, 1),  # cut off
        (0.939, "mrr", 8, 2),  # 15 ones and 1/40
        (0.667, "p_at_1", 3, 1),
        (0.666, "p_at_1", 3, 1),
        (0.668, "p_at_1", 3, None),
        (0.3, "map", 3, None),
    ],
)
def test_runs_needed_is_the_smallest_number_that_can_give_the_mean(
    published, measure, items, expected
):
    assert runs_needed(published, 0.001, measure, items) == expected


@given(st.lists(st.integers(1, 30), min_size=1, max_size=40), st.integers(2, 4), st.booleans())
def test_the_mean_of_one_run_is_attainable_with_one_run(ranks, digits, is_cut_off):
    mean, unit = np.mean([1 / rank for rank in ranks]), 10**digits
    printed = (np.floor(mean * unit + 1e-9) if is_cut_off else np.round(mean * unit)) / unit
    assert runs_needed(printed, 1 / unit, "mrr", len(ranks)) == 1


ITEMS = {"who": 8, "when": 19, "where": 11, "comb": 38}  # of TrecQA's test split


def test_a_system_with_an_unattainable_value_is_compared_with_means_of_runs():
    config = make_config()
    values = {"mean": 0.95, "sd": 0.02, "n_seeds": 5, "run_low": 0.889, "run_high": 1.0}
    values["n_items"] = lambda cell, _: ITEMS[cell.subset]
    summary = make_summary(config, CONFERENCE, **values)
    numbers = compare_numbers([CONFERENCE], config, Results(summary), ("diallo2019", "table5"))
    scores = numbers[numbers["published"].notna() & numbers["hyperparameters"].eq("paper")]
    by_system = scores.groupby("system")["attainable_runs"]
    # One run can give the system's values for `when` and `comb`, and two that for `where`.
    assert by_system.agg(list)["analogy"] == [5] * 4
    assert by_system.agg(list)["similarity"] == [1] * 4
    of_analogy = scores[scores["system"].eq("analogy")]
    assert of_analogy["reason"].str.contains("a mean of 5 runs").all()
    # t(4) is 2.776; sqrt(1/5 + 1/5) is .6325.
    assert of_analogy["run_low"].tolist() == pytest.approx([0.9149] * 4, abs=1e-4)
    assert of_analogy["run_high"].tolist() == pytest.approx([0.9851] * 4, abs=1e-4)
