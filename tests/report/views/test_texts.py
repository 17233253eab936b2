"""How often prototypes decide, examples of both, and printed texts looked up in a corpus."""

import pandas as pd
import pytest

from analogyqa.cells import artefact_cells, view_tables
from analogyqa.report.explained import clearest_decisions
from analogyqa.report.table_formats import to_markdown
from analogyqa.report.views.show import build_view, tabulate_view
from analogyqa.report.views.texts import NO, WITHIN, YES, match
from analogyqa.schemas import CORPUS, DECISIONS, write_table
from builders.report import cells_in_markdown, make_config, make_paper

CELLS = {"subset": "comb", "dataset": "wikiqa"}


def decisions(*rows):
    """Return a DECISIONS table of (seed, question type, question, label, margin, prototype)."""
    return pd.DataFrame(
        [
            (seed, question_type, question, f"{question}?", f"{question}-0", "chosen", label,
             "right", margin, prototype, f"{prototype}-0", f"{prototype}?", "its answer")
            for seed, question_type, question, label, margin, prototype in rows
        ],
        columns=DECISIONS.names,
    )  # fmt: skip


TABLE = decisions(
    (0, "who", "q0", 1, 0.5, "a"),
    (0, "who", "q1", 0, -0.25, "a"),
    (0, "who", "q2", 1, 0.25, "b"),
    (0, "when", "q3", 0, -0.5, "c"),
    (1, "who", "q0", 1, 0.125, "a"),
    (1, "when", "q3", 1, None, "d"),
)


def test_examples_are_the_clearest_decisions_of_the_first_seed():
    examples = clearest_decisions(TABLE)
    assert examples["question_id"].tolist() == ["q0", "q2", "q3", "q1"]
    assert examples["answered"].tolist() == ["correctly"] * 2 + ["incorrectly"] * 2


@pytest.fixture
def page(tmp_path):
    def page(view, table, system="analogy", config=None):
        config = config or make_config()
        section = {"title": "T", "view": view, "cells": CELLS, "panels": {"A": {"system": system}}}
        paper = make_paper({"table6": section})
        paths = [
            tmp_path / table.path
            for table in view_tables(config, paper.views["table6"]).values()
            if table.path
        ]
        for path in paths:
            write_table(table, DECISIONS, path)
        content = build_view(paper, "table6", paths, config)
        return to_markdown(tabulate_view(content, paper, "table6", config))

    return page


def test_the_most_frequent_prototypes_are_shown_and_the_others_summed(page):
    rows = [(0, "who", f"q{n}", n % 2, 0.1, f"p{n % 7}") for n in range(14)]
    rows += [(1, "who", "q99", 1, None, "p6")]
    text = page("deciding", decisions(*rows))
    assert "Prototypes of each type and seed: 30." in text
    lines = cells_in_markdown(text)
    assert lines[0] == ["Type", "Prototype", "seeds", "decides", "right", "share right"]
    assert lines[2] == ["who", "p6, p6-0", "2", "3", "2", ".67"]
    assert lines[7] == ["who", "2 others", "", "4", "2", ".50"]
    assert lines[8] == ["who", "all 7 that decide", "", "15", "8", ".53"]


def test_examples_show_the_sentences(page):
    text = page("decided", TABLE)
    assert "Do not publish" in text and "## A: answered incorrectly" in text
    assert ["q3?", "chosen", "right", "c?", "its answer", "-0.500"] in cells_in_markdown(text)


@pytest.mark.parametrize("view", ["deciding", "decided"])
def test_only_a_system_with_prototypes_has_decisions(view, page):
    assert "A: not run: it does not compare with prototypes" in page(view, TABLE, "similarity")


@pytest.mark.parametrize(
    ("printed", "text", "exact", "similarity"),
    [
        ("Anna was born.", "Anna was born .", YES, 1),
        ("Anna was born.", "anna was born in Oslo", WITHIN, 2 * 3 / 8),
        ("Anna [...] in Oslo", "So Anna was born in Oslo", WITHIN, 2 * 3 / 9),
        ("Anna was [...]", "Anna was born", WITHIN, 2 * 2 / 5),
        ("Ann was", "Anna was", NO, 2 * 1 / 4),
        ("in Oslo [...] Anna", "Anna was born in Oslo", NO, 2 * 3 / 8),
        ("the cat the dog", "the cat", NO, 2 * 2 / 6),
        ("Oslo", "Bergen", NO, 0),
    ],
)
def test_texts_are_compared_by_their_words(printed, text, exact, similarity):
    assert match(printed, text) == (exact, pytest.approx(similarity))


def corpus(*rows):
    return pd.DataFrame([(*row, "who") for row in rows], columns=CORPUS.names)


def test_quotes_are_found_in_the_most_similar_question(tmp_path):
    quotes = [
        {"example": "A and B", "question": "Who is Anna?", "answer": "Anna is a nurse of Oslo."},
        {"example": "C and D", "question": "Who was Ben?", "answer": "A singer"},
    ]
    panels = {"One": {"dataset": "wikiqa"}, "Two": {"dataset": "trecqa"}}
    section = {"title": "T", "view": "quotes", "panels": panels, "quotes": quotes}
    paper, config = make_paper({"table1": section}), make_config()
    assert artefact_cells(config, paper, "table1") == []
    tables = {
        "wikiqa": corpus(("train", "q1", "who is carl", "q1-0", "a nurse", 1)),
        "trecqa": corpus(
            ("train", "q1", "Who is Anna ?", "q1-0", "Anna is a nurse", 1),
            ("train", "q1", "Who is Anna ?", "q1-1", "nobody", 0),
            ("dev", "q1", "who was Ben once ?", "q1-0", "a singer", 1),
        ),
    }
    paths = []
    for name, table in tables.items():
        paths.append(tmp_path / "corpora" / f"{name}.parquet")
        write_table(table, CORPUS, paths[-1])
    content = build_view(paper, "table1", paths, config)
    text = to_markdown(tabulate_view(content, paper, "table1", config))
    who, was = ["Two", "train", "q1"], ["Two", "dev", "q1"]
    assert cells_in_markdown(text)[2:] == [
        ["A and B", "question", "Who is Anna?", *who, YES, "1.00", ""],
        ["A and B", "answer", "Anna is a nurse of Oslo.", *who, NO, ".80", "of oslo"],
        ["C and D", "question", "Who was Ben?", *was, WITHIN, ".86", ""],
        ["C and D", "answer", "A singer", *was, YES, "1.00", ""],
    ]
    assert content.frame["candidate_id"].tolist() == ["", "q1-0", "", "q1-0"]
    sentences = pd.concat(tables)[["question", "candidate"]].to_numpy().ravel()
    assert not content.frame.isin(sentences).any(axis=None)
    other = build_view(paper, "table1", paths, config.model_copy(update={"comparable": False}))
    assert other.frame.empty and not other.blocks
