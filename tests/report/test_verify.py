"""The demo is compared with the means that the repository expects."""

import pytest

from analogyqa.evaluation.summary import SUMMARY, read_csv, to_frame
from analogyqa.report.stored import store_configuration
from analogyqa.report.verify import (
    EXPECTED,
    EXPECTED_COLUMNS,
    SAMPLE,
    differences_from_expected,
    expected_values,
    is_sample,
)
from analogyqa.settings.load import read_values

TRAINED = ("analogy", "wikiqa", "comb", "default", "mrr")
EXACT = ("bm25", "trecqa", "comb", "default", "map")


@pytest.fixture
def summary():
    return (
        read_csv(EXPECTED, EXPECTED_COLUMNS)
        .set_index([*EXPECTED_COLUMNS][:5])
        .drop(columns="tolerance")
        .sort_index()
    )


def differences(summary):
    return list(differences_from_expected(summary.reset_index()))


@pytest.mark.parametrize(
    ("row", "change", "count"),
    [(EXACT, 0.0, 0), (EXACT, 0.001, 1), (TRAINED, 0.04, 0), (TRAINED, -0.2, 1)],
)
def test_a_mean_may_differ_by_its_tolerance(summary, row, change, count):
    summary.loc[row, "mean"] += change
    assert len(differences(summary)) == count


def test_a_different_number_of_questions_and_a_missing_cell_are_reported(summary):
    summary.loc[TRAINED, "n_items"] -= 1
    (difference,) = differences(summary)
    assert difference == "analogy wikiqa comb default: 2 seeds and 65 items; expected 2 and 66"
    assert len(differences(summary.drop(index=EXACT))) == 2


def test_only_means_that_depend_on_training_have_a_tolerance_beyond_rounding():
    cell = {"dataset": "wikiqa", "subset": "comb", "measure": "mrr", "mean": 0.123456}
    rows = [
        cell | {"system": "analogy", "provenance": "trained here: on a, vectors b"},
        cell | {"system": "fasttext", "provenance": "mean of fastText trained here on a"},
        cell | {"system": "bm25", "provenance": "bm25"},
        cell | {"system": "bm25", "measure": "p_at_1"},
    ]
    expected = expected_values(to_frame(rows, SUMMARY), ["mrr"])
    assert [*expected["tolerance"]] == [0.05, 0.05, 0.0001]
    assert {*expected["mean"]} == {0.1235}


def test_only_changes_that_affect_scores_distinguish_a_run_from_the_sample(tmp_path):
    values, _ = read_values(SAMPLE)
    for changes, expected in (({"output_dir": "x", "device": "cpu"}, True), ({"seeds": 3}, False)):
        store_configuration(tmp_path, values | changes, {}, "make it")
        assert is_sample(tmp_path) == expected
