"""Systems in their order, and how certain it is."""

import numpy as np
import pytest

from analogyqa.cells import Cell
from analogyqa.errors import AnalogyQAError
from analogyqa.report.leaderboard import build_leaderboard
from analogyqa.settings.run import leave_out
from builders.report import make_config, write_made_run

CONFIG = make_config()
GOOD = np.tile([1.0, 1, 1, 1, 0.5], (2, 8))


@pytest.fixture
def results(tmp_path):
    def add(system, scores, overrides=()):
        write_made_run(tmp_path, Cell(system, "wikiqa", "comb", overrides), {"mrr": scores})

    add("good", GOOD)
    add("good", GOOD - 0.01, (("hyperparameters", "tuned"),))
    add("good", GOOD, (("p", "10"),))  # a point of a figure
    add("bad", GOOD - 0.5)
    return tmp_path


def test_the_better_system_is_first_in_every_draw(results):
    places = build_leaderboard(results, "wikiqa", "comb", "mrr", CONFIG)
    assert [place.system for place in places] == ["good", "good tuned", "bad"]
    best, tuned, bad = places
    assert (best.mean, bad.mean) == pytest.approx((0.9, 0.4))
    # The same questions are drawn for all systems, so a constant difference decides each draw.
    assert [(place.rank_low, place.rank_high) for place in places] == [(1, 1), (2, 2), (3, 3)]
    assert [place.first for place in places] == [1, 0, 0]
    assert (best.p_value, best.in_top_group, bad.in_top_group) == (1, True, False)
    assert bad.p_value < 0.001 < 0.05 < 1
    assert tuned.detectable <= bad.detectable


def test_equal_systems_share_the_first_place(results):
    leader, *_ = build_leaderboard(results, "wikiqa", "comb", "map", CONFIG)
    assert leader.first == pytest.approx(1 / 3)  # all means of average precision are 0
    assert (leader.rank_low, leader.rank_high, leader.in_top_group) == (1, 1, True)


def test_a_data_set_that_was_left_out_has_its_reason(results):
    config = leave_out(CONFIG, {"trecqa": "no room"})
    with pytest.raises(AnalogyQAError, match="no room"):
        build_leaderboard(results, "trecqa", "comb", "mrr", config)


@pytest.mark.parametrize(
    ("dataset", "subset", "measure", "known"),
    [
        ("wikiqq", "comb", "mrr", "wikiqa"),
        ("wikiq*", "comb", "mrr", "wikiqa"),
        ("wikiqa", "combi", "mrr", "comb"),
        ("wikiqa", "comb", "accuracyy", "accuracy"),
    ],
)
def test_an_unknown_name_is_refused_with_a_suggestion(results, dataset, subset, measure, known):
    with pytest.raises(AnalogyQAError) as error:
        build_leaderboard(results, dataset, subset, measure, CONFIG)
    assert f"{subset} of {dataset} has the measure {measure}; did you mean {known}" in str(
        error.value
    )
