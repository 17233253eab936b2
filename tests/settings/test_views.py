"""A view of paper.yaml names the encoders that it shows; errors name the wrong key."""

import pytest
import yaml

from analogyqa.errors import AnalogyQAError
from analogyqa.settings.artefacts import View
from analogyqa.settings.paper import Paper, load_paper
from builders.papers import PAPER

NORMS = {
    "title": "N",
    "view": "norms",
    "cells": {"dataset": "toy", "subset": "all"},
    "panels": {"A": {"system": "a"}},
}
EXAMPLE = {"panel": "A", "find": "who", "question": ["who", "-"], "answer": ["-", "anna"]}
PAIRS = NORMS | {"view": "pairs_by_norm", "examples": [EXAMPLE]}


def test_views_are_listed_among_artefacts():
    table = {"title": "T", "cells": {"subset": "all"}, "columns": {"D": {"dataset": "toy"}}}
    table |= {"rows": {"Train": {"count": "pairs", "split": "train"}}}
    values = {"paper": "p", "citation": "P.", "artefacts": {"figure2": NORMS, "table1": table}}
    paper = Paper.model_validate(values)
    assert (list(paper.artefacts), list(paper.views)) == (["table1"], ["figure2"])
    assert paper.tables_and_figures == ["table1", "figure2"]
    assert Paper.model_validate(paper.model_dump(exclude_unset=True)).views == paper.views


def test_coordinates_join_a_panel_and_the_cells():
    (coordinates,) = View.model_validate(NORMS).coordinates().values()
    assert coordinates.key == ("a", "toy", "all", None, ())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"view": "norm"}, "'projection', 'norms'"),
        ({"panels": {}}, "at least 1 item"),
        ({"panels": {name: {"system": "a"} for name in "ABC"}}, "at most 2 items"),
        ({"panels": {"A": {}}}, "A: system is missing"),
        ({"panels": {"A": {"system": "a", "measure": "map"}}}, "A: remove measure"),
        ({"panels": {"A": {"system": "a", "subset": "who"}}}, "given twice"),
        ({"levels": {"0-1": "to"}}, "the view norms has no levels"),
        ({"examples": [EXAMPLE]}, "the view norms has no examples"),
        ({"view": "words_by_norm", "examples": []}, "the view words_by_norm has no examples"),
        ({"view": "pairs_by_norm", "examples": []}, "pairs_by_norm needs examples"),
    ],
)
def test_an_impossible_view_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        View.model_validate(NORMS | changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"panel": "B"}, "'B' is not one of the panels"),
        ({"answer": ["-"]}, "question has 2 levels, the answer 1"),
        ({"question": ["-"], "answer": ["-"]}, "the same number of levels"),
        ({"find": ""}, "at least 1 character"),
    ],
)
def test_an_impossible_example_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        View.model_validate(PAIRS | {"examples": [EXAMPLE, EXAMPLE | changes]})


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("figure8", {"titel": "N"}, r"unknown key artefacts\.figure8\.titel; did you mean title"),
        ("figure8", {"panels": {}}, r"artefacts\.figure8\.panels: .* at least 1"),
        ("table8", {}, r"artefacts\.table8: the view norms is a figure"),
        ("figure8", {"view": "words_by_norm"}, r"artefacts\.figure8: .* words_by_norm is a table"),
    ],
)
def test_a_wrong_view_is_named_by_its_key_in_the_file(tmp_path, name, changes, message):
    values = yaml.safe_load(PAPER)
    values["artefacts"][name] = NORMS | changes
    path = tmp_path / "paper.yaml"
    path.write_text(yaml.safe_dump(values))
    with pytest.raises(AnalogyQAError, match=rf"paper\.yaml: {message}"):
        load_paper(path)
