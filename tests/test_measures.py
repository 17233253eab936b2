"""trec_eval's measures by hand."""

from operator import itemgetter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analogyqa.errors import AnalogyQAError
from analogyqa.measures import (
    ABOUT_ITEMS,
    ALL_CORRECT,
    OF_SCORES,
    RANKED,
    TIED,
    item_strata,
    mean_values,
    measure_items,
    measure_run,
    measure_scores,
    reweight,
    values_by_seed,
)
from analogyqa.schemas import METRICS, write_table

GROUPS = {"q0": "who", "q1": "who"}


def run(*questions):
    """Return scored candidates: a question is a list of (score, label)."""
    return pd.DataFrame(
        [
            (f"q{number}", f"q{number}-{position}", label, np.float32(score))
            for number, candidates in enumerate(questions)
            for position, (score, label) in enumerate(candidates)
        ],
        columns=["question_id", "candidate_id", "label", "score"],
    )


def measure(*questions):
    """Return the values of each measure, in the order of the questions."""
    measured = measure_items(run(*questions), {f"q{n}": "who" for n in range(len(questions))})
    return {name: rows["value"].tolist() for name, rows in measured.groupby("measure")}


@pytest.mark.parametrize(
    ("candidates", "ap", "rr"),
    [
        ([(0.9, 1), (0.8, 0), (0.7, 0)], 1, 1),
        ([(0.9, 0), (0.8, 1), (0.7, 0)], 1 / 2, 1 / 2),
        ([(0.1, 1), (0.8, 0), (0.7, 0)], 1 / 3, 1 / 3),
        ([(0.9, 0), (0.8, 1), (0.7, 0), (0.6, 1)], (1 / 2 + 2 / 4) / 2, 1 / 2),
        ([(0.9, 1), (0.8, 0), (0.7, 0), (0.6, 1), (0.5, 1)], (1 + 2 / 4 + 3 / 5) / 3, 1),
        ([(-0.9, 1), (-0.2, 0)], 1 / 2, 1 / 2),
    ],
)
def test_average_precision_and_reciprocal_rank_by_hand(candidates, ap, rr):
    measured = measure(candidates)
    assert measured["map"] == pytest.approx([ap])
    assert measured["mrr"] == pytest.approx([rr])
    assert measured[TIED] == [0]


scored = st.tuples(st.sampled_from([-1.0, 0.0, 0.25, 0.5, 0.75]), st.integers(0, 1))
questions = st.lists(scored, min_size=1, max_size=6).filter(
    lambda candidates: any(label for _, label in candidates)
)


@given(st.lists(questions, min_size=1, max_size=3))
def test_precision_at_1_and_accuracy_are_the_label_of_the_top_candidate(asked):
    """Equal scores, of which there are many here, are ordered by descending id."""
    top_labels = [
        max((score, position, label) for position, (score, label) in enumerate(candidates))[2]
        for candidates in asked
    ]
    measured = measure(*asked)
    assert measured["p_at_1"] == measured["accuracy"] == top_labels


def test_ties_within_a_question_and_questions_with_only_correct_candidates_are_counted():
    measured = measure([(0.5, 1), (0.5, 0), (0.5, 0), (0.1, 0)], [(0.5, 1), (0.4, 1)])
    assert (measured[TIED], measured[ALL_CORRECT]) == ([3, 0], [0, 1])


def test_rows_are_ordered_by_measure_and_item_with_their_groups():
    scores = run([(0.9, 0), (0.8, 1), (0.5, 1)], [(0.5, 1), (0.5, 0)])
    measured = measure_items(scores[::-1], {"q1": "when", "q0": "who"})
    pd.testing.assert_frame_equal(measured, measure_items(scores, {"q0": "who", "q1": "when"}))
    assert measured["measure"].unique().tolist() == [*RANKED, *ABOUT_ITEMS]
    items = measured.loc[measured["measure"] == "map", ["item", "group"]]
    assert items.to_numpy().tolist() == [["q0", "who"], ["q1", "when"]]


def test_unanswerable_questions_count_as_0_in_official_measures_only():
    scores = run([(0.9, 1), (0.1, 0)], [(0.1, 1), (0.9, 0)])
    means = mean_values(measure_items(scores, GROUPS))
    assert means == {
        **dict.fromkeys(("map", "mrr", "map_official", "mrr_official"), 0.75),
        **dict.fromkeys(("p_at_1", "p_at_1_official", "accuracy"), 0.5),
    }
    measured = measure_items(scores, GROUPS, ["q9", "q8"])
    by_measure = measured.groupby("measure")["item"].apply(list)
    assert by_measure["map_official"] == by_measure["mrr_official"] == ["q0", "q1", "q8", "q9"]
    assert by_measure["map"] == by_measure["all_correct"] == ["q0", "q1"]
    halved = {name: value / 2 for name, value in means.items() if name.endswith("_official")}
    assert mean_values(measured) == means | halved


def test_mean_scores_of_correct_and_wrong_candidates():
    """A question without a wrong candidate has no gap."""
    asked = [(0.5, 1), (0.25, 1), (-0.5, 0)], [(0.1, 1)], [(-0.25, 1), (0.5, 0), (1.0, 0)]
    measured = measure_scores(run(*asked), {f"q{n}": "who" for n in range(3)})
    rows = measured[["measure", "item", "value"]].to_numpy().tolist()
    assert rows == [
        ["score_of_correct", "q0", 0.375],
        ["score_of_correct", "q2", -0.25],
        ["score_of_wrong", "q0", -0.5],
        ["score_of_wrong", "q2", 0.75],
        ["score_gap", "q0", 0.875],
        ["score_gap", "q2", -1.0],
    ]


@given(st.lists(questions, min_size=1), st.integers(0, 3))
def test_official_map_is_the_mean_average_precision_over_all_questions(asked, unanswerable):
    """Candidates with the same score keep their order, as in the official scorer."""
    average_precisions = []
    for candidates in asked:
        labels = [label for _, label in sorted(candidates, key=itemgetter(0), reverse=True)]
        precisions = [sum(labels[: at + 1]) / (at + 1) for at, label in enumerate(labels) if label]
        average_precisions.append(sum(precisions) / len(precisions))
    groups = {f"q{number}": "who" for number in range(len(asked))}
    others = [f"none{number}" for number in range(unanswerable)]
    means = mean_values(measure_items(run(*asked), groups, others))
    expected = sum(average_precisions) / (len(asked) + unanswerable)
    assert means["map_official"] == pytest.approx(expected)


@pytest.mark.parametrize("groups", [GROUPS, {}], ids=["missing", "unexpected"])
def test_a_missing_or_unexpected_question_is_named(groups):
    with pytest.raises(AnalogyQAError, match=f"lacks .*{'q1' if groups else 'q0'}"):
        measure_items(run([(1, 1)]), groups)


@pytest.mark.parametrize("score", [np.nan, np.inf])
def test_a_score_that_is_not_a_number_is_named(score):
    with pytest.raises(AnalogyQAError, match=r"question q1: a score is not a number"):
        measure_items(run([(1, 1)], [(score, 1)]), GROUPS)


SPLITS = {"dev": GROUPS, "test": GROUPS}


def whole_run():
    scores = run([(0.9, 1), (0.1, 0)], [(0.1, 1), (0.9, 0)])
    return pd.concat(
        [scores.assign(seed=seed, split=split) for seed in (0, 1) for split in ("dev", "test")],
        ignore_index=True,
    )


def test_a_run_is_measured_by_seed_and_split(tmp_path):
    scores = whole_run()
    measured = measure_run(scores, SPLITS, {})
    mrr = measured[measured["measure"] == "mrr"]
    assert mrr.groupby(["seed", "split"])["value"].mean().tolist() == [0.75] * 4
    write_table(measured, METRICS, tmp_path / "metrics.parquet")
    # As read from a file.
    categorical = scores.astype(dict.fromkeys(["question_id", "candidate_id", "split"], "category"))
    pd.testing.assert_frame_equal(measured, measure_run(categorical, SPLITS, {}))


@pytest.mark.parametrize("where", ["split == 'test'", "split == 'test' and seed == 1"])
def test_a_run_that_lacks_a_whole_split_is_refused(where):
    scores = whole_run()
    with pytest.raises(AnalogyQAError, match="the run lacks"):
        measure_run(scores.drop(scores.query(where).index), SPLITS, {})


def test_each_measure_of_a_split_has_its_values_by_seed_and_item():
    metrics = measure_run(whole_run(), SPLITS, {})
    other = metrics["split"].eq("dev") | metrics["seed"].eq(1)
    metrics.loc[other, "value"] = -1.0
    values = values_by_seed(metrics.astype({"item": "category", "measure": "category"}), "test")
    assert list(values) == [*RANKED, *OF_SCORES, *ABOUT_ITEMS]
    assert values["mrr"].columns.tolist() == ["q0", "q1"]
    assert values["mrr"].to_numpy().tolist() == [[1, 0.5], [-1, -1]]


def weighted_metrics() -> pd.DataFrame:
    """Two capitals with 3 and 1 questions, and one verb with 2."""
    items = [("a", "capitals", 3, 1.0), ("b", "capitals", 1, 0.0), ("c", "verbs", 2, 0.5)]
    rows = [
        (0, "test", item, group, name, value)
        for item, group, weight, right in items
        for name, value in (("accuracy", right), ("analogies", weight))
    ]
    return pd.DataFrame(rows, columns=METRICS.names)


def test_a_mean_over_weighted_items_counts_each_analogy_once():
    values = values_by_seed(weighted_metrics(), "test")["accuracy"]
    assert values.to_numpy().mean() == pytest.approx((3 * 1 + 1 * 0 + 2 * 0.5) / 6)
    assert values.loc[0].to_dict() == {
        ("capitals", "a"): 1.5, ("capitals", "b"): 0.0, ("verbs", "c"): 0.5
    }  # fmt: skip
    assert item_strata(values).tolist() == [0, 0, 1]


def test_a_mean_may_weight_groups_by_other_numbers_of_analogies():
    metrics = reweight(weighted_metrics(), {"capitals": 10, "verbs": 30, "others": 5})
    weights = metrics[metrics["measure"] == "analogies"]
    assert weights["value"].tolist() == [7.5, 2.5, 30]
    values = values_by_seed(metrics, "test")["accuracy"]
    assert values.to_numpy().mean() == pytest.approx((10 * 0.75 + 30 * 0.5) / 40)
    assert reweight(weighted_metrics(), {}).equals(weighted_metrics())
