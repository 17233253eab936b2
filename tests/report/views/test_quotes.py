"""Printed questions and answers, looked up in a corpus."""

import pandas as pd
import pytest

from analogyqa.cells import artefact_cells
from analogyqa.report.table_formats import to_markdown
from analogyqa.report.views.show import build_view, tabulate_view
from analogyqa.report.views.texts import NO, WITHIN, YES, match
from analogyqa.schemas import CORPUS, write_table
from builders.report import cells_in_markdown, make_config, make_paper


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
