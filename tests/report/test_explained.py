"""Explanations as text and as pictures."""

import re
from pathlib import Path

import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure

from analogyqa.errors import AnalogyQAError
from analogyqa.report.explained import (
    SEVERAL,
    SHOWN,
    lettered_prototypes,
    margin,
    picture_notes,
    picture_svg,
    save_picture,
    shown_candidates,
    terminal_lines,
    word_text,
)
from analogyqa.runs.depends_on import reached
from builders.report import drawn_text, make_explanation

SCRIPTS = Path(__file__).parents[2] / "workflow_scripts"


def test_explaining_examples_does_not_depend_on_the_drawing_of_figures():
    drawing = {"analogyqa.report.figures", "analogyqa.report.views.show"}
    modules = {module for module, _ in reached(SCRIPTS / "explain_examples.py")}
    assert modules and modules & drawing == set()


def test_the_first_candidates_and_the_best_correct_one_are_shown():
    explanation = make_explanation([0] * 7 + [1, 0, 1])
    candidates = shown_candidates(explanation)
    assert [place for place, _, _ in candidates] == [*range(1, SHOWN + 1), 8]
    assert [place for place, _, _ in shown_candidates(make_explanation([1, 0]))] == [1, 2]
    # The prototypes 0, 1, 2, 0, ... decide in turn.
    assert [letter for _, _, letter in candidates] == ["A", "B", "C", "A", "B", "B"]
    assert lettered_prototypes(explanation) == {"A": 0, "B": 1, "C": 2}


def test_the_margin_is_positive_if_a_correct_candidate_is_first():
    margins = margin(make_explanation([1, 0, 0])), margin(make_explanation([0, 0, 1]))
    assert margins == pytest.approx((0.1, -0.2))


def test_words_are_shown_without_punctuation():
    assert word_text([("who", 0.5), ("?", 0.3), ("it", 0.2)]) == "who 50%, it 20%"


def test_the_terminal_shows_prototypes_and_says_if_no_single_one_decides():
    explanation = make_explanation([1, 0])
    lines = list(terminal_lines(explanation))
    assert [line.split()[0] for line in lines if re.match(r" +\d", line)] == ["1", "2"]
    assert sum("like " in line for line in lines) == 2 * 2
    assert SEVERAL not in lines
    for candidate in explanation.candidates:
        candidate.decided_by = None
    assert SEVERAL in terminal_lines(explanation)
    assert SEVERAL in picture_notes(explanation, explanation.shifts)
    assert lettered_prototypes(explanation) == {}


def test_a_picture_shows_ranks_letters_and_variance_and_has_equal_bytes():
    explanation = make_explanation([0, 1])
    svg = picture_svg(explanation, explanation.shifts)
    texts = {*re.findall(r"<text[^>]*>([^<]*)</text>", svg)}
    assert {"1", "2", "A", "B", "first principal component (50% of the variance)"} < texts
    assert svg == picture_svg(explanation, explanation.shifts)
    assert "lose 20%" in next(picture_notes(explanation, explanation.shifts))


def test_a_picture_is_saved_with_its_texts_in_one_of_two_formats(tmp_path):
    explanation = make_explanation([0, 1])
    svg = drawn_text(lambda files: save_picture(explanation, files["svg"]), tmp_path)
    for text in (explanation.question, "2  0.800, like B: candidate 1", "answer of prototype 1"):
        assert text in svg
    save_picture(explanation, tmp_path / "picture.png")
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(AnalogyQAError, match=r"\.svg or \.png"):
        save_picture(explanation, tmp_path / "picture.pdf")
    explanation.shifts = None
    with pytest.raises(AnalogyQAError, match="nothing to draw"):
        save_picture(explanation, tmp_path / "picture.svg")


def test_a_plot_is_drawn_into_given_axes_or_a_new_figure():
    explanation = make_explanation([1, 0, 0])
    axes = Figure().subplots()
    assert explanation.plot(axes) is axes
    new = explanation.plot()
    assert new.figure.get_suptitle() == explanation.question
    for drawn in (axes, new):
        assert {"1", "2", "3", "A", "B", "C"} == {text.get_text() for text in drawn.texts}
    pyplot.close(new.figure)
    with pytest.raises(AnalogyQAError, match="nothing to draw"):
        explanation.model_copy(update={"shifts": None}).plot()


def test_a_table_has_the_candidates_and_the_prototypes_that_decide():
    explanation = make_explanation([1, 0, 0])
    frame = explanation.to_frame()
    assert [*frame.index] == [1, 2, 3] and [*frame["letter"]] == ["A", "B", "C"]
    for row, candidate in zip(frame.itertuples(), explanation.candidates, strict=True):
        assert (row.candidate, row.score) == (candidate.candidate, candidate.score)
        assert row.prototype_answer == explanation.prototypes[candidate.decided_by].answer
    explanation.candidates[0].decided_by = None
    assert explanation.to_frame()["prototype_answer"].isna().tolist() == [True, False, False]
