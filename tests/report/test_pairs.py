"""Pairs of cross-validated systems by type of question and of answer, and the page of questions."""

import numpy as np
import pandas as pd
import pytest

from analogyqa.errors import AnalogyQAError
from analogyqa.plan import Cell
from analogyqa.report.cross_validation import EVERY
from analogyqa.report.cross_validation_figures import draw_pairs
from analogyqa.report.pairs import (
    ANSWER,
    PAIRS,
    QUESTION,
    answer_types,
    build_pairs,
    pairs_table,
    question_types,
    questions_page,
)
from analogyqa.report.table_formats import to_markdown
from analogyqa.schemas import CORPUS, ENTITIES
from analogyqa.settings.studies import CrossValidation
from report.builders import CONFERENCE, make_config, with_cross_validation

PAPER = CONFERENCE.paper
KINDS = {"a": "who", "b": "who", "c": "when", "d": "when"}
# How much better the first system ranks each question; the folds that test them.
GAINS = {"train:a": 0.3, "dev:b": 0.1, "train:c": -0.2, "test:d": 0.0}
FOLDS = {"1of2": ["train:a", "dev:b"], "2of2": ["train:c", "test:d"]}


@pytest.fixture
def config():
    study = {"datasets": ["wikiqa"], "systems": ["analogy", "similarity"], "measures": ["mrr"]}
    pairs = {"baseline": ["analogy", "similarity"]}
    return with_cross_validation(make_config(("wikiqa",)), PAPER, pairs=pairs, **study)


@pytest.fixture
def corpus():
    rows = [
        (split, item, f"{KINDS[item]} is {item} ?", f"{item}-{label}", "text", label, KINDS[item])
        for split, item in (name.split(":") for name in GAINS)
        for label in (0, 1)
    ]
    rows.append(("test", "e", "what is e ?", "e-1", "text", 1, None))
    return pd.DataFrame(rows, columns=CORPUS.names)


def study_of(config) -> CrossValidation:
    return config.studies[PAPER].cross_validation


def values_of(cell: Cell, measure: str) -> pd.DataFrame:
    items = FOLDS[dict(cell.overrides)["fold"]]
    first = np.array([GAINS[item] for item in items]) * (cell.system == "analogy")
    return pd.DataFrame(0.5 + np.add.outer([-0.01, 0.01], first), [0, 1], items)


def entities(*rows) -> pd.DataFrame:
    return pd.DataFrame([(*row, "KIND") for row in rows], columns=ENTITIES.names)


def test_an_answer_is_what_its_right_candidates_name(corpus):
    found = entities(
        ("train", "a", "a-1", "Ada Lovelace"),
        ("dev", "b", "b-1", "42"),
        ("dev", "b", "b-1", "a dozen"),
        ("train", "c", "c-0", "1999"),  # of a wrong candidate
    )
    expected = {"train:a": "entity", "dev:b": "number", "train:c": "clause", "test:d": "clause"}
    assert answer_types(corpus, found) == expected
    assert answer_types(corpus, entities()) == dict.fromkeys(expected, "clause")


def test_a_pair_is_compared_on_all_questions_and_in_each_group(config, corpus):
    groups = {("wikiqa", QUESTION): question_types(corpus)}
    groups["wikiqa", ANSWER] = {"train:a": "entity", "train:c": "number"}
    frame = build_pairs(PAPER, study_of(config), config, values_of, groups)
    assert list(frame.columns) == list(PAIRS)
    keys = ["by", "group", "n_items", "difference"]
    assert frame[keys].to_numpy().tolist() == [
        [EVERY, EVERY, 4, pytest.approx(0.05)],
        [QUESTION, "when", 2, pytest.approx(-0.1)],
        [QUESTION, "who", 2, pytest.approx(0.2)],
        [ANSWER, "entity", 1, pytest.approx(0.3)],
        [ANSWER, "number", 1, pytest.approx(-0.2)],
    ]
    page = to_markdown(pairs_table(frame, CONFERENCE, config))
    assert "| Analogy against Baseline | question: who " in page
    assert "+0.200" in page


def test_without_runs_a_pair_says_so(config, corpus):
    frame = build_pairs(PAPER, study_of(config), config, lambda cell, measure: None, {})
    assert frame["reason"].tolist() == ["not run"]
    assert "not run" in to_markdown(pairs_table(frame, CONFERENCE, config))
    page = questions_page(
        PAPER, study_of(config), config, lambda cell, measure: None, {"wikiqa": corpus}
    )
    assert "##" not in page


@pytest.mark.parametrize("run", [True, False])
def test_the_figure_has_each_pair_once_or_says_that_it_has_not_run(config, tmp_path, run):
    frame = build_pairs(
        PAPER, study_of(config), config, values_of if run else lambda cell, measure: None, {}
    )
    draw_pairs(frame, config, {"svg": tmp_path / "a.svg"})
    drawn = (tmp_path / "a.svg").read_text()
    assert ("<!-- +0.050 -->" in drawn, "<!-- not run -->" in drawn) == (run, not run)
    assert drawn.count("<!-- against Baseline -->") == 1


def test_questions_are_sorted_by_gain_and_by_loss(config, corpus):
    page = questions_page(PAPER, study_of(config), config, values_of, {"wikiqa": corpus})
    gain, lose = page.split("## ")[1:]
    assert gain.startswith("WIKIQA: largest gains of Analogy over Baseline")
    assert [line.split()[3] for line in gain.splitlines() if line[:1] == "-"] == list("abdc")
    assert [line.split()[3] for line in lose.splitlines() if line[:1] == "-"] == list("cdba")
    assert "- who is a ? (train; MRR 0.50 to 0.80)" in gain


def test_other_questions_are_refused(config):
    def broken(cell: Cell, measure: str) -> pd.DataFrame:
        values = values_of(cell, measure)
        return values.iloc[:, 1:] if cell.system == "similarity" else values

    with pytest.raises(AnalogyQAError, match="analogy and similarity have different"):
        build_pairs(PAPER, study_of(config), config, broken, {})
