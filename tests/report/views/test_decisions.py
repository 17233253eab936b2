"""How often prototypes decide and are right, and examples of both."""

import pandas as pd
import pytest

from analogyqa.cells import view_tables
from analogyqa.report.explained import clearest_decisions
from analogyqa.report.table_formats import to_markdown
from analogyqa.report.views.show import build_view, tabulate_view
from analogyqa.schemas import DECISIONS, write_table
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
