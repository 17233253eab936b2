"""Two results folders are compared cell by cell."""

import numpy as np
import pytest

from analogyqa.cells import Cell
from analogyqa.errors import AnalogyQAError
from analogyqa.report.compare_folders import compare_folders
from builders.report import make_config, write_made_run

CONFIG = make_config()
SCORES = np.array([[0.0, 1, 1, 0.5], [0.5, 1, 0, 0.5]])


def add_run(results, system, scores, **changes):
    facts = {
        "scores": str(scores.tolist()),
        "inputs": {"corpus, seed 0": "a", "corpus, seed 1": "a"},
        "settings": {"training": {"margin": 0.1}},
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
    changed = {"settings": {"training": {"margin": 0.2}}, "git_commit": "def"}
    add_run(folders[1], "analogy", np.minimum(SCORES + 0.25, 1), **changed)
    equal, (difference,) = compare_folders(*folders, CONFIG)
    assert (equal, difference.cell) == (1, "analogy/wikiqa/comb/default")
    values = difference.values
    assert (values["measure"], values["first"]) == ("map", SCORES.mean())
    assert values["difference"] == pytest.approx(values["second"] - values["first"])
    assert values["difference"] == pytest.approx(0.25 * 5 / 8)
    assert difference.because == ["training.margin: 0.1, now 0.2", "git_commit: abc, now def"]


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


def test_added_and_removed_inputs_are_named(folders):
    add_run(folders[0], "glove", SCORES, inputs={"corpus": "a", "old": "a"})
    add_run(folders[1], "glove", SCORES / 2, inputs={"corpus": "a", "new": "a"})
    _, (difference,) = compare_folders(*folders, CONFIG)
    assert {*difference.because} == {"input: old", "input: new"}


def test_a_folder_without_runs_is_refused(folders):
    add_run(folders[0], "glove", SCORES)
    with pytest.raises(AnalogyQAError, match="second: it has no run"):
        compare_folders(*folders, CONFIG)
