"""Pairs of cross-validated systems by type of question and of answer, and the page of questions."""

import numpy as np
import pandas as pd
import pytest

from analogyqa.cells import Cell
from analogyqa.errors import AnalogyQAError
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
from builders.report import CONFERENCE, make_config, with_cross_validation

PAPER = CONFERENCE.paper
QUESTION_TYPES = {"a": "who", "b": "who", "c": "when", "d": "when"}
# By how much the first system is better on each question, and the folds that test them.
GAINS = {"train:a": 0.3, "dev:b": 0.1, "train:c": -0.2, "test:d": 0.0}
FOLDS = {"1of2": ["train:a", "dev:b"], "2of2": ["train:c", "test:d"]}


@pytest.fixture
def config():
    study = {"datasets": ["wikiqa"], "systems": ["analogy", "similarity"], "measures": ["mrr"]}
    pairs = {"baseline": ["analogy", "similarity"]}
    return with_cross_validation(make_config(("wikiqa",)), PAPER, pairs=pairs, **study)


@pytest.fixture
def corpus():
    rows = []
    for name in GAINS:
        split, item = name.split(":")
        question_type = QUESTION_TYPES[item]
        question = f"{question_type} is {item} ?"
        rows += [
            (split, item, question, f"{item}-{label}", "text", label, question_type)
            for label in (0, 1)
        ]
    rows.append(("test", "e", "what is e ?", "e-1", "text", 1, None))
    return pd.DataFrame(rows, columns=CORPUS.names)


def study_of(config) -> CrossValidation:
    return config.studies[PAPER].cross_validation


def run_values(cell: Cell, measure: str) -> pd.DataFrame:
    items = FOLDS[dict(cell.overrides)["fold"]]
    first = np.array([GAINS[item] for item in items]) * (cell.system == "analogy")
    return pd.DataFrame(0.5 + np.add.outer([-0.01, 0.01], first), [0, 1], items)


def no_run(cell: Cell, measure: str) -> None:
    return None


def entities(*rows) -> pd.DataFrame:
    return pd.DataFrame([(*row, "KIND") for row in rows], columns=ENTITIES.names)


def test_the_answer_type_depends_on_the_right_candidates(corpus):
    named_entities = entities(
        ("train", "a", "a-1", "Ada Lovelace"),
        ("dev", "b", "b-1", "42"),
        ("dev", "b", "b-1", "a dozen"),
        ("train", "c", "c-0", "1999"),  # of a wrong candidate
    )
    expected = {"train:a": "entity", "dev:b": "number", "train:c": "clause", "test:d": "clause"}
    assert answer_types(corpus, named_entities) == expected
    assert answer_types(corpus, entities()) == dict.fromkeys(expected, "clause")


def test_a_pair_is_compared_on_all_questions_and_in_each_group(config, corpus):
    groups = {("wikiqa", QUESTION): question_types(corpus)}
    groups["wikiqa", ANSWER] = {"train:a": "entity", "train:c": "number"}
    frame = build_pairs(PAPER, study_of(config), config, run_values, groups)
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


def test_a_pair_without_runs_is_reported_as_not_run(config, corpus):
    frame = build_pairs(PAPER, study_of(config), config, no_run, {})
    assert frame["reason"].tolist() == ["not run"]
    assert "not run" in to_markdown(pairs_table(frame, CONFERENCE, config))
    page = questions_page(PAPER, study_of(config), config, no_run, {"wikiqa": corpus})
    assert "##" not in page


@pytest.mark.parametrize("has_run", [True, False])
def test_the_figure_has_each_pair_once_even_if_it_has_not_run(config, tmp_path, has_run):
    values = run_values if has_run else no_run
    frame = build_pairs(PAPER, study_of(config), config, values, {})
    draw_pairs(frame, config, {"svg": tmp_path / "a.svg"})
    svg = (tmp_path / "a.svg").read_text()
    assert ("<!-- +0.050 -->" in svg, "<!-- not run -->" in svg) == (has_run, not has_run)
    assert svg.count("<!-- against Baseline -->") == 1


def test_questions_are_sorted_by_gain_and_by_loss(config, corpus):
    page = questions_page(PAPER, study_of(config), config, run_values, {"wikiqa": corpus})
    gains, losses = page.split("## ")[1:]
    assert gains.startswith("WIKIQA: largest gains of Analogy over Baseline")
    assert [line.split()[3] for line in gains.splitlines() if line[:1] == "-"] == ["a", "b"]
    assert [line.split()[3] for line in losses.splitlines() if line[:1] == "-"] == ["c"]
    assert "- who is a ? (train; MRR 0.50 to 0.80)" in gains


def test_systems_with_different_questions_are_refused(config):
    def different_questions(cell: Cell, measure: str) -> pd.DataFrame:
        values = run_values(cell, measure)
        return values.iloc[:, 1:] if cell.system == "similarity" else values

    with pytest.raises(AnalogyQAError, match="analogy and similarity have different"):
        build_pairs(PAPER, study_of(config), config, different_questions, {})
