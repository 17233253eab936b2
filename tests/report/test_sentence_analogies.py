"""The real paper on sentence analogies: its counts, weights and derived values."""

from functools import cache

import pandas as pd
import pytest

from analogyqa.cells import Cell, cell_at, cells_by_run
from analogyqa.evaluation.published import build_ledger, compare_numbers
from analogyqa.evaluation.summary import SUMMARY, Results, to_frame
from analogyqa.settings.coordinates import Coordinates
from analogyqa.settings.load import PAPERS, load_config
from analogyqa.settings.paper import load_paper

NAME, DATASET = "sentence_analogies", "sentence-analogies"


@pytest.fixture(scope="module")
def paper():
    return load_paper(PAPERS / NAME / "paper.yaml")


@cache
def config():
    return load_config({"papers": [NAME], "output_dir": "results", "seeds": 2})


def printed(paper) -> dict[str, dict[str, float]]:
    """Return the printed counts of pairs and of analogies by category."""
    counts: dict[str, dict[str, float]] = {"questions": {}, "analogies": {}}
    for number in paper.artefacts["table3"].numbers():
        if number.published is not None:
            counts[number.coordinates.count][number.coordinates.subset] = number.published
    return counts


def test_categories_have_the_weights_of_the_paper(paper):
    coordinates = {"system": "random", "dataset": DATASET, "subset": "lexical"}
    coordinates |= {"measure": "accuracy"}
    theirs = cell_at(Coordinates(**coordinates), config())
    ours = cell_at(Coordinates(**coordinates, weighted_by="found"), config())
    assert theirs.overrides == (("solver", "3cosadd"),)
    assert ours.overrides == (("solver", "3cosadd"), ("weighted_by", "found"))
    # One run holds both cells.
    run = Cell("random", DATASET, "all", theirs.overrides)
    parts = cells_by_run(config(), [theirs, ours])[run]
    assert parts[ours].analogies == {}
    weights = {name: parts[theirs].analogies[name] for name in printed(paper)["analogies"]}
    assert weights == printed(paper)["analogies"]


def test_word_categories_have_the_weights_of_their_sentences():
    cell = Cell("random", DATASET, "semantic_words", (("solver", "3cosadd"),))
    (parts,) = cells_by_run(config(), [cell]).values()
    assert parts[cell].categories == config().subsets["semantic_words"]
    weights = {
        name: parts[cell].analogies[f"{name}_words"] for name in config().subsets["semantic"]
    }
    assert list(weights.values()) == [9453, 430128, 80601, 11175, 7875]  # Table 3
    assert weights == {name: parts[cell].analogies[name] for name in weights}


def test_counts_set_by_a_cap_are_enforced(paper):
    counts = printed(paper)
    counts["questions"] |= {"gender": 125}
    counts["analogies"] |= {"gender": 7750}
    by_split = {counted: {"test": by_type} for counted, by_type in counts.items()}
    results = Results(to_frame([], SUMMARY), counts={DATASET: by_split})
    table = build_ledger(compare_numbers([paper], config(), results, only=(NAME, "table3")))
    verdicts = table.set_index(["row", "column"])["verdict"]
    not_run = ["Comparative", "Opposite", "Objective Clause"]
    assert verdicts.drop(index=[*not_run, "Gender"], level=0).eq("enforced").all()
    assert len(verdicts) == 30
    assert verdicts.loc[not_run].eq("not run").all()
    assert verdicts.loc["Gender"].eq("not comparable").all()


def test_the_accuracies_of_figure_1_follow_from_figure_2_and_table_3(paper):
    table = paper.artefacts["table13"]
    assert table.published["InferSentV2"][0] == 0.848
    assert table.published["GenSen"][1] == 0.782
    assert table.published["XLNet-Large-AVG"][0] == 0.340
    # By hand: 226,128, 130,305, 32,640, 158,203 and 150,975 analogies.
    glove = 0.63 * 226128 + 0.67 * 130305 + 0.34 * 32640 + 0.18 * 158203 + 0.68 * 150975
    assert table.published["GloVe"][0] == round(glove / 698251, 3)
    assert table.rounding("3CosAdd") == 0.005
    assert pd.Series([number.step for number in table.numbers()]).eq(0.01).all()
