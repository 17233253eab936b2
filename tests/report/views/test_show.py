"""Views show the vectors of trained encoders on the test split, or why there are none."""

from functools import partial

import numpy as np
import pandas as pd
import pytest

from analogyqa.cells import artefact_cells, reported_cells, view_tables
from analogyqa.evaluation.claims import FAILS, HOLDS
from analogyqa.evaluation.summary import read_csv, write_csv
from analogyqa.report.table_formats import to_latex, to_markdown
from analogyqa.report.views.inside import (
    NORMS,
    POINTS,
    WORD_LEVELS,
    WORDS,
    project,
)
from analogyqa.report.views.show import build_view, draw_view, tabulate_view
from analogyqa.report.views.specs import VIEWS
from analogyqa.schemas import INSIDE, write_table
from builders.golden import figure_text
from builders.report import make_config, make_paper

COLUMNS = {
    "projection": POINTS,
    "norms": NORMS,
    "words_by_norm": WORDS,
    "pairs_by_norm": WORD_LEVELS,
}
LOOKS_INSIDE = [name for name in VIEWS if VIEWS[name].reads == "inside"]
CELLS = {"subset": "all"}
BOTH = {"First": {"system": "analogy"}, "Second": {"system": "similarity"}}
EXAMPLE = {
    "panel": "First",
    "find": "Anna famous",
    "question": ["is", "-", "who, anna"],
    "answer": ["was", "a nurse", "-"],
}
LEVELS = {"0-1": "the, of", "1-2": "-", "2-3": "anna, nowhere"}
# The norm of a word by its number of letters: short words are common ones.
SENTENCES = [
    ("who is anna", ["anna was a nurse", "the king of rome"]),
    ("what is anna famous for ?", ["she was the queen", "anna was a nurse of italy"]),
    ("where is oslo", ["oslo is of the north", "in norway"]),
]


def count_letters(words):
    return float(sum(map(len, words)))


def sentence(kind, name, question, label, text):
    words = text.split()
    vector = np.random.default_rng(len(text)).normal(size=4)
    return (kind, name, question, label, text, words, count_letters(words), vector)


def make_inside(sentences=SENTENCES, norm=None):
    rows = []
    for number, (question, answers) in enumerate(sentences):
        name = f"q{number}"
        rows.append(sentence("question", name, name, -1, question))
        rows += [
            sentence("candidate", f"{name}-{place}", name, 1, answer)
            for place, answer in enumerate(answers)
        ]
        rows.append(sentence("candidate", f"{name}-no", name, 0, "not at all"))
    words = dict.fromkeys(word for row in rows for word in row[5])
    rows += [("word", word, "", -1, word, [word], count_letters([word]), []) for word in words]
    frame = pd.DataFrame(rows, columns=INSIDE.names)
    return frame if norm is None else frame.assign(norm=norm)


def view_section(view, **changes):
    section = {"title": "A look inside", "view": view, "panels": BOTH}
    section |= {"cells": CELLS | {"dataset": "wikiqa"}}
    section |= {"levels": LEVELS} if view == "words_by_norm" else {}
    section |= {"examples": [EXAMPLE]} if view == "pairs_by_norm" else {}
    return section | changes


@pytest.fixture
def show(tmp_path):
    """Return a function that shows a view of two systems.

    It returns the content of the view, the paper, the name of the artefact and the configuration.
    """

    def show(view, insides=(), config=None, **changes):
        name = "figure4" if VIEWS[view].is_figure else "table8"
        paper = make_paper({name: view_section(view, **changes)})
        config, paths = config or make_config(), []
        cells = artefact_cells(config, paper, name)
        insides = [*insides, *[make_inside()] * (len(cells) - len(insides))]
        for cell, inside in zip(cells, insides, strict=True):
            paths.append(tmp_path / "runs" / cell.path / "inside.parquet")
            write_table(inside, INSIDE, paths[-1])
        return build_view(paper, name, paths, config), paper, name, config

    return show


@pytest.fixture
def table(show):
    def table(view, *insides, **changes):
        return tabulate_view(*show(view, insides, **changes))

    return table


@pytest.mark.parametrize("view", LOOKS_INSIDE)
def test_a_view_names_its_encoders_and_its_data_have_the_expected_columns(view, show, tmp_path):
    content = show(view)[0]
    write_csv(content.frame, tmp_path / "a.csv")
    assert len(read_csv(tmp_path / "a.csv", COLUMNS[view])) == len(content.frame) > 0
    for part in ("Analogy, Baseline", "test split of WIKIQA, 3 questions", "seed 0"):
        assert part in content.notes[0]


@pytest.mark.parametrize("view", [name for name in LOOKS_INSIDE if name != "projection"])
def test_a_view_is_as_reviewed(view, show, tmp_path, golden):
    content, *context = show(view, config=make_config(comparable=view == "pairs_by_norm"))
    if VIEWS[view].is_figure:
        text = figure_text(partial(draw_view, content, *context), tmp_path)
    else:
        table = tabulate_view(content, *context)
        text = f"{to_markdown(table)}\n{to_latex(table, 'a')}"
    golden(text, f"{view}.txt")


@pytest.mark.parametrize("view", LOOKS_INSIDE)
@pytest.mark.parametrize("panels", [["First"], []])
def test_an_unavailable_panel_is_left_out_with_its_reason(view, panels, show, tmp_path):
    left_out = {"similarity": "no room"} | ({} if panels else {"analogy": "no time"})
    content, paper, name, config = show(view, config=make_config(left_out=left_out))
    assert set(content.frame["panel"]) == set(panels)
    notes = " ".join(content.notes)
    assert "Second: not run: no room." in notes and ("no time" in notes) == (not panels)
    if VIEWS[view].is_figure:
        text = figure_text(partial(draw_view, content, paper, name, config), tmp_path)
        assert "not run: no room" in text
    else:
        assert "no room" in to_markdown(tabulate_view(content, paper, name, config))


@pytest.mark.parametrize(
    "system", ["glove", "random"], ids=["an encoder that is not trained", "one without vectors"]
)
def test_a_view_needs_a_trained_encoder(system):
    paper = make_paper({"figure4": view_section("norms", panels={"A": {"system": system}})})
    config = make_config()
    (table,) = view_tables(config, paper.views["figure4"]).values()
    assert "not trained" in table.reason and not table.path
    assert artefact_cells(config, paper, "figure4") == []


def test_the_cells_of_a_view_are_run():
    panels = {"A": {"system": "analogy", "margin": 0.25}}
    paper = make_paper({"figure4": view_section("norms", panels=panels)})
    cells = reported_cells(make_config(), {"tiny2020": paper})
    assert "analogy/wikiqa/all/margin=0.25" in [cell.path for cell in cells]


# Figure 4


def test_a_projection_has_questions_and_their_right_answers(show):
    points = show("projection")[0].frame
    assert points.groupby(["panel", "kind"]).size().unique().tolist() == [6, 3]
    assert not points["id"].str.endswith("no").any()
    assert np.isfinite(points[["x", "y", "z"]].to_numpy()).all()


def test_a_projection_keeps_the_nearest_neighbours():
    generator = np.random.default_rng(0)
    centres = np.repeat(generator.normal(scale=20, size=(3, 10)), 60, axis=0)
    points = project(centres + generator.normal(size=centres.shape))
    assert points.shape == (180, 3)
    distances = np.linalg.norm(points[:, None] - points[None], axis=2)
    np.fill_diagonal(distances, np.inf)
    assert (distances.argmin(axis=1) // 60 == np.arange(180) // 60).mean() > 0.95


@pytest.mark.parametrize("count", [1, 2])
def test_too_few_points_are_not_projected(count, show, tmp_path):
    inside = make_inside([(question, answers[:1]) for question, answers in SENTENCES[:count]])
    content, *context = show("projection", [inside, inside])
    assert content.frame["x"].isna().all()
    text = figure_text(partial(draw_view, content, *context), tmp_path)
    assert "too few points" in text


# Figure 5


@pytest.mark.parametrize(("norm", "verdict"), [(15.0, HOLDS), (5.0, FAILS)])
def test_the_verdict_is_in_the_notes(norm, verdict, show):
    inside = make_inside()
    inside["norm"] = np.where(inside["kind"] == "question", norm, 10.0)
    notes = " ".join(show("norms", [inside, inside])[0].notes)
    assert f'"Questions in general have a higher vector norm" than answers: {verdict}' in notes


def test_equal_norms_can_be_drawn(show, tmp_path):
    flat = make_inside(norm=0.0)
    content, *context = show("norms", [flat, flat])
    assert "norm" in figure_text(partial(draw_view, content, *context), tmp_path)


# Table 9


def test_an_outlier_does_not_change_the_levels(table):
    sentences = [*SENTENCES, (" ".join(f"word{n:04}" for n in range(300)), ["x" * 900])]
    frame = table("words_by_norm", *[make_inside(sentences)] * 2).frame
    assert frame["high"].max() == 900 and frame["low"].max() < 9
    assert frame["words"].iloc[2].count(", ") == 9


def test_the_published_levels_are_compared_with_our_norms(table):
    notes = " ".join(table("words_by_norm").notes)
    assert "First: 3 of the published words are in the test split" in notes
    assert "rank correlation is 0.87" in notes
    alone = table("words_by_norm", levels={"0-1": "the", "1-2": "nowhere"})
    assert "Spearman" not in " ".join(alone.notes)


def test_there_are_six_levels_if_none_are_published(table):
    assert len(table("words_by_norm", levels={}).frame) == 2 * 6


# Table 8


def test_the_right_answer_that_shares_the_published_words_is_chosen(table):
    frame = table("pairs_by_norm").frame
    assert set(frame["candidate_id"]) == {"q1-1"}
    other = EXAMPLE | {"answer": ["she", "the", "queen"]}
    assert set(table("pairs_by_norm", examples=[other]).frame["candidate_id"]) == {"q1-0"}


def test_questions_that_are_not_in_the_data_are_replaced_and_named(table):
    missing = [EXAMPLE | {"find": find} for find in ("burger king", "founder of")]
    view = table("pairs_by_norm", examples=[*missing, EXAMPLE])
    assert view.frame["question_id"].drop_duplicates().tolist() == ["q0", "q2", "q1"]
    note = 'Not in these data: "burger king" of First and "founder of" of First.'
    assert note in " ".join(view.notes)
    by_question = view.frame.groupby("question_id")["published"].agg(set)
    assert by_question["q0"] == by_question["q2"] == {""}  # not published


def test_examples_beyond_the_number_of_questions_are_left_out(table):
    missing = [EXAMPLE | {"find": "nowhere"}] * 5
    assert table("pairs_by_norm", examples=missing).frame["question_id"].nunique() == 3
