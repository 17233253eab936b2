"""The texts of the cells of tables."""

import pytest

from analogyqa.report.table_formats import value_text

UNJUDGED = {"verdict": "", "substitute": ""}


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
    assert value_text(row | UNJUDGED).ours == text


@pytest.mark.parametrize(
    ("published", "text"),
    [
        (0.0, "(.000)"), (0.7, "(.700)"), (0.0711, "(.0711)"), (1.0, "(1)"), (53_417.0, "(53.4K)")
    ],
)  # fmt: skip
def test_a_cited_score_has_no_zero_before_the_point_and_a_cited_cost_has_a_unit(published, text):
    row = {"kind": "cited", "published": published}
    assert value_text(row | UNJUDGED).published == text
