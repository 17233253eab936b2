"""The parts of the page that name the items of a task."""

import pytest

from analogyqa.corpora.relations import relations_corpus
from analogyqa.evaluation.claims import CLAIMS, EQUIVALENT, UNDECIDED
from analogyqa.evaluation.published import compare_numbers
from analogyqa.evaluation.summary import Results, to_frame
from analogyqa.evaluation.verdicts import NOT_RUN
from analogyqa.report.page import data_cards
from analogyqa.report.page.papers import REACH, ZERO, claim_cards
from analogyqa.report.tables import build_table
from analogyqa.schemas import CORPUS, write_table
from analogyqa.settings.load import load_config
from builders.report import make_paper, make_summary

MINE = {"title": "Mine", "reader": "relations", "test": "./relations"}
CONFIG = load_config(
    {"papers": ["diallo2019"], "output_dir": "results", "seeds": 2, "datasets": {"mine": MINE}}
)


def claim_on(dataset: str, subset: str, measure: str) -> dict:
    cells = {"dataset": dataset, "subset": subset, "measure": measure}
    comparison = {"better": {"system": "glove"}, "worse": {"system": "random"}}
    return {
        "claim": "it is better",
        "where": "section 1",
        "primary": "paper",
        "cells": cells,
        "comparisons": [comparison],
    }


def card(coordinates=("wikiqa", "comb", "mrr"), **judged) -> dict:
    """Return the card of a claim that is judged as given."""
    paper = make_paper(one=claim_on(*coordinates))
    row = {"paper": paper.paper, "claim": "one", "role": "primary", "kind": "score"}
    row |= {"protocol": "paper", "evidence": "a (p = .2)", "n_items": 30, "n_seeds": 2}
    (card,) = claim_cards(to_frame([row | judged], CLAIMS), [paper], CONFIG)
    return card | card["judgements"][0]


@pytest.mark.parametrize(
    ("coordinates", "item"),
    [(("wikiqa", "comb", "mrr"), "questions"), (("mine", "all", "accuracy"), "pairs")],
)
def test_a_card_names_the_items_of_its_task(coordinates, item):
    effect = {"effect": 0.1, "low": -0.1, "high": 0.3, "p_value": 0.2, "paper_effect": 0.2}
    facts = card(coordinates, verdict=UNDECIDED, items_needed=120, **effect)["facts"]
    assert facts[2:] == [
        f"30 {item}, seeds: 2",
        f"about 120 {item} would show the published +0.200",
    ]


def test_equal_systems_are_drawn_in_the_middle():
    equal = {"effect": 0.0, "low": 0.0, "high": 0.0, "p_value": 1.0}
    drawn = card(verdict=EQUIVALENT, **equal)
    assert drawn["interval"] == dict.fromkeys(("low", "effect", "high"), ZERO)
    assert drawn["published"] == drawn["band"] == ()


def test_cards_have_one_axis_with_the_published_effect_and_the_margin():
    rows = [
        {"paper": "tiny2020", "claim": name, "role": "primary", "kind": "score", "p_value": 0.2}
        | dict.fromkeys(["effect", "low", "high", "paper_effect"], effect)
        | {"margin": 0.02, "verdict": UNDECIDED, "evidence": "a (p = .2)"}
        for name, effect in (("one", 0.04), ("two", -0.19))
    ]
    paper = make_paper(**dict.fromkeys(("one", "two"), claim_on("wikiqa", "comb", "mrr")))
    first, second = claim_cards(to_frame(rows, CLAIMS), [paper], CONFIG)
    labels = dict(first["ticks"])
    assert first["ticks"] == second["ticks"] and list(labels.values())[::2] == ["-0.2", "0", "+0.2"]
    assert labels[ZERO] == "0" and labels[ZERO + REACH] == "+0.2"
    assert first["published"] == (ZERO + 0.2 * REACH, ZERO + 0.2 * REACH, "published +0.040")
    assert first["band"] == (ZERO - 0.1 * REACH, ZERO + 0.1 * REACH)
    # The label is next to its mark where the drawing ends.
    place, label, _ = second["published"]
    assert place == second["judgements"][0]["interval"]["effect"] == ZERO - 0.95 * REACH < label


def test_a_card_on_data_that_are_not_configured_has_the_reason():
    judgement = card(("trecqa2", "comb", "mrr"), verdict=NOT_RUN, reason="no such data")
    assert judgement["facts"] == ["no such data"]


def test_the_card_of_relations_counts_pairs_and_analogies(tmp_path):
    file = tmp_path / "capitals.tsv"
    file.write_text("Paris\tFrance\nRome\tItaly\nOslo\tNorway\n")
    (tmp_path / "corpora").mkdir()
    write_table(relations_corpus({"capitals": file}), CORPUS, tmp_path / "corpora/mine.parquet")
    (card,) = data_cards(tmp_path, [], CONFIG, {})
    assert card["counts"].columns == ["Sentence pairs", "Analogies"]
    # Three pairs form 3 * 2 / 2 analogies.
    assert [(labels, [value[0] for value in values]) for labels, values in card["counts"].rows] == [
        (["test"], ["3", "3"])
    ]


def test_notes_of_analogies_name_items_and_join_equal_remarks():
    columns = {name: {"solver": name} for name in ("3cosadd", "3cosmul", "3cosadd_u")}
    table = {
        "title": "T",
        "cells": {"dataset": "mine", "subset": "all", "measure": "accuracy"},
        "columns": columns,
        "rows": {"GloVe": {"system": "glove"}},
        "remarks": {"3cosadd": "Easier.", "3cosmul": "Easier.", "3cosadd_u": "Other."},
    }
    paper = make_paper({"table1": table})
    results = Results(make_summary(CONFIG, paper, n_items=116))
    numbers = compare_numbers([paper], CONFIG, results)
    notes = build_table(paper, "table1", numbers, CONFIG, results).notes
    # Templates make 928 pairs of sentences of 116 pairs of words.
    data = "Data: Mine, pairs of words (in templates) or of sentences: all 116. Seeds: 2."
    assert data in notes
    assert [note for note in notes if "3cos" in note and "." in note][:2] == [
        "3cosadd, 3cosmul: Easier.",
        "3cosadd_u: Other.",
    ]
