"""The examples of a paper in the report: the clearest correct and incorrect answers, explained."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from markupsafe import Markup

from analogyqa.cells import explained_cells
from analogyqa.errors import explain_damage
from analogyqa.report.explained import (
    Ranked,
    lettered_prototypes,
    margin,
    picture_notes,
    shown_candidates,
    word_text,
)
from analogyqa.report.explanation_figure import picture_svg
from analogyqa.report.html_pages import render, svg_uri
from analogyqa.schemas import EXPLANATIONS, Explanation, Shifts
from analogyqa.settings.paper import Paper
from analogyqa.settings.run import Config


class Example(NamedTuple):
    """An explained question; `picture` is an SVG as a URI."""

    explanation: Explanation
    margin: float
    picture: str
    candidates: Sequence[Ranked]
    prototypes: dict[str, int]
    notes: Sequence[str]


def examples_section(results: Path, paper: Paper, config: Config) -> Markup:
    """Return the examples of a paper as HTML, "" for none.

    It has sentences of the data. `results` is the output folder.

    Raises AnalogyQAError if a file is damaged.
    """
    groups: dict[str, list[Example]] = {}
    for cell in explained_cells(config, paper):
        path = results / "runs" / cell.path / "examples.json"
        title = f"{config.systems[cell.system].title} on {config.datasets[cell.dataset].title}"
        for explanation in _read(path) if path.exists() else ():
            is_correct = explanation.candidates[0].label == 1
            group = f"{title}: answered {'correctly' if is_correct else 'incorrectly'}"
            if explanation.shifts:
                groups.setdefault(group, []).append(_example(explanation, explanation.shifts))
    if not groups:
        return Markup()
    values = {"paper": paper.paper, "results": results.as_posix(), "groups": groups}
    return Markup(render("examples.html", **values, word_text=word_text))


def _read(path: Path) -> list[Explanation]:
    with explain_damage(path, "not a list of explanations"):
        return EXPLANATIONS.validate_json(path.read_bytes())


def _example(explanation: Explanation, shifts: Shifts) -> Example:
    return Example(
        explanation,
        margin(explanation),
        svg_uri(picture_svg(explanation, shifts)),
        shown_candidates(explanation),
        lettered_prototypes(explanation),
        list(picture_notes(explanation, shifts)),
    )
