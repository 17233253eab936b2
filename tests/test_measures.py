"""trec_eval's measures by hand, and their spread."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analogyqa.errors import AnalogyQAError
from analogyqa.measures import measure_questions, measure_run, summarise, summarise_matrix
from analogyqa.schemas import METRICS, write_table


def run(*questions):
    """Return scored candidates: a question is a list of (score, label)."""
    return pd.DataFrame(
        [
            (f"q{number}", f"q{number}-{chr(ord('a') + place)}", label, np.float32(score))
            for number, candidates in enumerate(questions)
            for place, (score, label) in enumerate(candidates)
        ],
        columns=["question_id", "candidate_id", "label", "score"],
    )


def measure(*questions):
    types = {f"q{number}": "who" for number in range(len(questions))}
    return measure_questions(run(*questions), types)


@pytest.mark.parametrize(
    ("candidates", "ap", "rr"),
    [
        ([(0.9, 1), (0.8, 0), (0.7, 0)], 1, 1),
        ([(0.9, 0), (0.8, 1), (0.7, 0)], 1 / 2, 1 / 2),
        ([(0.1, 1), (0.8, 0), (0.7, 0)], 1 / 3, 1 / 3),
        ([(0.9, 0), (0.8, 1), (0.7, 0), (0.6, 1)], (1 / 2 + 2 / 4) / 2, 1 / 2),
        ([(0.9, 1), (0.8, 0), (0.7, 0), (0.6, 1), (0.5, 1)], (1 + 2 / 4 + 3 / 5) / 3, 1),
        ([(-0.9, 1), (-0.2, 0)], 1 / 2, 1 / 2),
        ([(0.9, 1), (0.8, 1)], 1, 1),
        ([(0.9, 1)], 1, 1),
    ],
)
def test_average_precision_and_reciprocal_rank_by_hand(candidates, ap, rr):
    measured = measure(candidates)
    assert measured["ap"].tolist() == pytest.approx([ap])
    assert measured["rr"].tolist() == pytest.approx([rr])
    assert measured["tied_candidates"].tolist() == [0]


@pytest.mark.parametrize(("labels", "rr"), [((1, 0), 1 / 2), ((0, 1), 1)])
def test_ties_are_ordered_by_descending_id_and_counted(labels, rr):
    measured = measure([(0.5, label) for label in labels])
    assert measured["rr"].tolist() == [rr]
    assert measured["tied_candidates"].tolist() == [2]


def test_only_ties_within_a_question_count():
    measured = measure([(0.5, 1), (0.5, 0), (0.5, 0), (0.1, 0)], [(0.5, 1), (0.4, 0)])
    assert measured["tied_candidates"].tolist() == [3, 0]


def test_rows_are_ordered_by_question_with_their_types():
    measured = measure_questions(run([(1, 1)], [(1, 1)]), {"q1": "when", "q0": "who"})
    assert measured["question_id"].tolist() == ["q0", "q1"]
    assert measured["question_type"].tolist() == ["who", "when"]


def test_the_order_of_the_rows_does_not_matter():
    scores = run([(0.9, 0), (0.8, 1), (0.5, 1)], [(0.5, 1), (0.5, 0)])
    types = {"q0": "who", "q1": "who"}
    pd.testing.assert_frame_equal(
        measure_questions(scores, types), measure_questions(scores[::-1], types)
    )


@pytest.mark.parametrize("types", [{"q0": "who", "q1": "who"}, {}], ids=["missing", "unexpected"])
def test_a_missing_or_unexpected_question_is_named(types):
    with pytest.raises(AnalogyQAError, match=f"lacks .*{'q1' if types else 'q0'}"):
        measure_questions(run([(1, 1)]), types)


@pytest.mark.parametrize("score", [np.nan, np.inf])
def test_a_score_that_is_not_a_number_is_named(score):
    with pytest.raises(AnalogyQAError, match=r"question q1: a score is not a number"):
        measure_questions(run([(1, 1)], [(score, 1)]), {"q0": "who", "q1": "who"})


TYPES = {"dev": {"q0": "who", "q1": "who"}, "test": {"q0": "who", "q1": "who"}}


def whole_run():
    scores = run([(0.9, 1), (0.1, 0)], [(0.1, 1), (0.9, 0)])
    return pd.concat(
        [scores.assign(seed=seed, split=split) for seed in (0, 1) for split in ("dev", "test")],
        ignore_index=True,
    )


def test_a_run_is_measured_by_seed_and_split(tmp_path):
    measured = measure_run(whole_run(), TYPES)
    assert list(measured.columns) == METRICS.names
    assert measured.groupby(["seed", "split"])["rr"].mean().tolist() == [0.75] * 4
    write_table(measured, METRICS, tmp_path / "metrics.parquet")


def test_a_run_read_from_parquet_has_the_same_measures():
    scores = whole_run()
    names = ["question_id", "candidate_id", "split"]
    categorical = scores.astype(dict.fromkeys(names, "category"))
    pd.testing.assert_frame_equal(measure_run(scores, TYPES), measure_run(categorical, TYPES))


@pytest.mark.parametrize("where", ["split == 'test'", "split == 'test' and seed == 1"])
def test_a_run_that_lacks_a_whole_split_is_refused(where):
    scores = whole_run()
    with pytest.raises(AnalogyQAError, match="test"):
        measure_run(scores.drop(scores.query(where).index), TYPES)


# Spread

matrices = st.integers(1, 4).flatmap(
    lambda questions: st.lists(
        st.lists(st.floats(0, 1), min_size=questions, max_size=questions), min_size=1, max_size=4
    )
)


def test_constant_values_have_an_interval_of_no_width():
    summary = summarise_matrix(np.full((3, 5), 0.5), 200, 0.95)
    assert summary == pytest.approx((0.5, 0, 0.5, 0.5))


def test_one_seed_has_no_standard_deviation_but_an_interval_over_questions():
    summary = summarise_matrix(np.array([[0.0, 1.0, 0.0, 1.0]]), 500, 0.95)
    assert summary.sd == 0
    assert summary.ci_low < 0.5 < summary.ci_high


def test_the_standard_deviation_is_over_the_means_of_the_seeds():
    summary = summarise_matrix(np.array([[0.0, 0.5], [0.5, 1.0]]), 200, 0.95)
    assert summary.mean == 0.5
    assert summary.sd == pytest.approx(np.std([0.25, 0.75], ddof=1))


@given(matrices)
def test_the_interval_lies_within_the_values(values):
    summary = summarise_matrix(np.array(values), 200, 0.95)
    low, high = np.min(values), np.max(values)
    assert low - 1e-9 <= summary.ci_low <= summary.ci_high <= high + 1e-9


def test_the_interval_contains_the_mean_and_narrows_with_more_questions():
    generator = np.random.default_rng(0)
    widths = []
    for questions in (10, 1000):
        summary = summarise_matrix(generator.random((3, questions)), 500, 0.95)
        assert summary.ci_low < summary.mean < summary.ci_high
        widths.append(summary.ci_high - summary.ci_low)
    assert widths[1] < widths[0] / 3


def test_the_interval_has_the_width_that_theory_gives():
    values = np.random.default_rng(1).normal(size=(1, 400))
    summary = summarise_matrix(values, 4000, 0.95)
    half = 1.96 * values.std() / np.sqrt(400)
    assert summary.ci_high - summary.mean == pytest.approx(half, rel=0.1)
    assert summary.mean - summary.ci_low == pytest.approx(half, rel=0.1)


def test_a_higher_confidence_is_a_wider_interval():
    values = np.random.default_rng(2).random((3, 20))
    narrow, wide = (summarise_matrix(values, 500, confidence) for confidence in (0.8, 0.99))
    assert wide.ci_low < narrow.ci_low < narrow.ci_high < wide.ci_high


def test_the_same_values_give_the_same_interval():
    values = np.random.default_rng(3).random((3, 20))
    assert summarise_matrix(values, 300, 0.95) == summarise_matrix(values, 300, 0.95)


def test_a_metrics_table_is_summarised_by_measure():
    measured = measure_run(whole_run(), TYPES)
    summary = summarise(measured[measured["split"] == "test"], 200, 0.95)
    assert set(summary) == {"map", "mrr"}
    assert summary["mrr"].mean == 0.75
