"""The texts of the cells of tables."""

import pytest

from analogyqa.report.table_formats import short_text, value_text

UNJUDGED = {"verdict": "", "substitute": "", "measure": "mrr"}


@pytest.mark.parametrize(
    ("measure", "mean", "text"),
    [
        ("parameters", 999_600, "1M"),
        ("parameters", 999_400, "999K"),
        ("parameters", 999.6, "1K"),
        ("parameters", 53_417, "53.4K"),
        ("parameters", 12, "12"),
        ("seconds_per_epoch", 999.7, "1,000 s"),
        ("seconds_per_epoch", 12_345, "12,345 s"),
        ("seconds_per_epoch", 1.234, "1.23 s"),
    ],
)
def test_a_cost_is_rounded_before_its_unit_is_chosen(measure, mean, text):
    row = {"kind": "cost", "measure": measure, "mean": mean, "published": None}
    assert value_text(UNJUDGED | row).ours == text


@pytest.mark.parametrize(
    ("published", "text"),
    [
        (0.0, "(.000)"), (0.7, "(.700)"), (0.0711, "(.0711)"), (1.0, "(1)"), (53_417.0, "(53.4K)")
    ],
)  # fmt: skip
def test_a_cited_score_has_no_zero_before_the_point_and_a_cited_cost_has_a_unit(published, text):
    row = {"kind": "cited", "published": published}
    assert value_text(row | UNJUDGED).published == text


@pytest.mark.parametrize(
    ("learned", "ours", "interval"),
    [
        (10, ".684 ± .020", "[.600, .700]"),
        (6, ".684, learned 6 of 10", ""),
        (None, ".684 ± .020", "[.600, .700]"),
    ],
)
def test_a_mean_over_runs_that_did_not_all_learn_has_their_counts_and_no_interval(
    learned, ours, interval
):
    row = {"mean": 0.684, "sd": 0.02, "run_low": 0.6, "run_high": 0.7, "published": 0.6841}
    row |= {"ci_low": 0.6, "ci_high": 0.7, "n_learned": learned, "n_trained": learned and 10}
    value = value_text(row | UNJUDGED | {"verdict": "did not learn"})
    assert value.parts == [part for part in (ours, interval, "(.6841)", "!") if part]
    assert short_text(row).ours == (ours if learned == 6 else ".684")


@pytest.mark.parametrize(
    ("measure", "low", "high", "interval"),
    [
        ("mrr", 0.0, 1.0, "interval too wide (2 seeds)"),
        ("mrr", 0.05, 0.96, "interval too wide (2 seeds)"),
        ("mrr", 0.05, 0.94, "[.050, .940]"),
        ("score_of_correct", 0.0, 1.0, "[.000, 1.000]"),  # it has no largest value
    ],
)
def test_an_interval_that_excludes_next_to_nothing_is_not_printed(measure, low, high, interval):
    row = {"mean": 0.5, "sd": 0.1, "run_low": low, "run_high": high, "published": None}
    row |= {"n_seeds": 2, "n_learned": None, "n_trained": None}
    assert value_text(row | UNJUDGED | {"measure": measure}).interval == interval
