"""Two results folders, and all systems on a subset, are compared."""

import numpy as np
import pytest

from analogyqa.cells import Cell
from analogyqa.errors import AnalogyQAError
from analogyqa.report.compare import build_leaderboard, compare_folders
from analogyqa.settings.run import leave_out
from builders.report import make_config, write_made_run

CONFIG = make_config()
SCORES = np.array([[0.0, 1, 1, 0.5], [0.5, 1, 0, 0.5]])


def settings(margin):
    system = {"ranker": {"name": "analogy"}, "training": {"margin": margin}}
    return {"systems": {"paper": system}, "parts": {}}


def add_run(results, system, scores, **changes):
    facts = {
        "scores": str(scores.tolist()),
        "inputs": {"corpus, seed 0": "a", "corpus, seed 1": "a"},
        "settings": settings(margin=0.1),
        "git_commit": "abc",
    }
    write_made_run(results, Cell(system, "wikiqa", "comb"), {"map": scores}, **facts | changes)


@pytest.fixture
def folders(tmp_path):
    return tmp_path / "first", tmp_path / "second"


def test_cells_with_equal_scores_are_counted_and_other_cells_are_compared(folders):
    for folder in folders:
        add_run(folder, "glove", SCORES)
    add_run(folders[0], "analogy", SCORES)
    changed = {"settings": settings(margin=0.2), "git_commit": "def"}
    add_run(folders[1], "analogy", np.minimum(SCORES + 0.25, 1), **changed)
    equal, (difference,) = compare_folders(*folders, CONFIG)
    assert (equal, difference.cell) == (1, "analogy/wikiqa/comb/default")
    values = difference.values
    assert (values["measure"], values["first"]) == ("map", SCORES.mean())
    assert values["difference"] == pytest.approx(values["second"] - values["first"])
    assert values["difference"] == pytest.approx(0.25 * 5 / 8)
    assert difference.because == [
        "systems.paper.training.margin: 0.1, now 0.2",
        "git_commit: abc, now def",
    ]


def test_cells_in_one_folder_only_and_cells_with_different_questions_are_reported(folders):
    add_run(folders[0], "glove", SCORES)
    add_run(folders[1], "word2vec", SCORES)
    add_run(folders[0], "analogy", SCORES)
    add_run(folders[1], "analogy", SCORES[:, :3], inputs={"corpus, seed 0": "b"})
    equal, differences = compare_folders(*folders, CONFIG)
    states = {difference.cell.partition("/")[0]: difference.state for difference in differences}
    assert (equal, states) == (
        0,
        {"analogy": "other questions", "glove": "only in the first",
         "word2vec": "only in the second"},
    )  # fmt: skip
    assert differences[0].because == ["input: corpus"]


def test_a_fold_is_compared_on_the_questions_of_each_seed(folders):
    tested = np.array([[0.0, 1, np.nan, 0.5], [0.5, np.nan, 1, 0.5]])
    add_run(folders[0], "glove", tested)
    add_run(folders[1], "glove", tested / 2)
    _, (difference,) = compare_folders(*folders, CONFIG)
    assert difference.values["first"] == pytest.approx(3.5 / 6, abs=1e-6)
    assert difference.values["difference"] == pytest.approx(-3.5 / 12, abs=1e-6)
    add_run(folders[1], "glove", tested[::-1])  # other partitions
    assert compare_folders(*folders, CONFIG)[1][0].state == "other questions"


def test_added_and_removed_inputs_are_named(folders):
    add_run(folders[0], "glove", SCORES, inputs={"corpus": "a", "old": "a"})
    add_run(folders[1], "glove", SCORES / 2, inputs={"corpus": "a", "new": "a"})
    _, (difference,) = compare_folders(*folders, CONFIG)
    assert {*difference.because} == {"input: old", "input: new"}


def test_a_folder_without_runs_is_refused(folders):
    add_run(folders[0], "glove", SCORES)
    with pytest.raises(AnalogyQAError, match="second: it has no run"):
        compare_folders(*folders, CONFIG)


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
    assert places["system"].tolist() == ["good", "good-tuned", "bad"]
    assert places["mean"].tolist() == pytest.approx([0.9, 0.89, 0.4])
    # The same questions are drawn for all systems, so a constant difference decides each draw.
    assert places[["rank_low", "rank_high"]].to_numpy().tolist() == [[1, 1], [2, 2], [3, 3]]
    assert places["first"].tolist() == [1, 0, 0]
    best, tuned, bad = places.itertuples()
    assert (best.p_value, best.group, bad.group) == (1, 1, 3)
    assert best.low < best.mean < best.high
    assert bad.p_value < 0.001
    assert best.detectable == 0 and tuned.detectable <= bad.detectable


def test_equal_systems_share_the_first_place(results):
    leader = build_leaderboard(results, "wikiqa", "comb", "map", CONFIG).iloc[0]
    assert leader["first"] == pytest.approx(1 / 3)  # all means of average precision are 0
    assert leader[["rank_low", "rank_high", "group"]].tolist() == [1, 1, 1]


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
