"""Tables and figures that look into trained systems."""

from typing import Literal

from pydantic import Field, model_validator

from analogyqa.registry import VIEWS
from analogyqa.settings.base import Section
from analogyqa.settings.coordinates import Coordinates

_NEEDED = {"system", "dataset", "subset"}


class Example(Section):
    """A question of which a paper shows the words at each level of norm, and those of an answer.

    `find` are words of the question: the first test question of the panel that has them all is it.
    """

    panel: str
    find: str = Field(min_length=1)
    question: list[str] = Field(min_length=1)
    answer: list[str] = Field(min_length=1)

    @model_validator(mode="after")
    def _same_levels(self) -> "Example":
        if len(self.question) != len(self.answer):
            raise ValueError(
                f"{len(self.question)} levels of the question, {len(self.answer)} of the answer"
            )
        return self


class View(Section):
    """A table or figure that is made of vectors and their norms instead of scores.

    `view` says how, a key of `VIEWS`. Each panel says, with `cells`, which system it looks into, on
    which data. `levels` are the words that the paper prints at each level of norm, and `examples`
    its questions; each is of the view that reads it.
    """

    title: str
    view: Literal[tuple(VIEWS)]  # type: ignore[valid-type]
    cells: Coordinates = Coordinates()
    panels: dict[str, Coordinates] = Field(min_length=1, max_length=2)
    levels: dict[str, str] = {}
    examples: list[Example] = []

    @model_validator(mode="after")
    def _complete(self) -> "View":
        foreign = self.model_fields_set & {"levels", "examples"} - {*VIEWS[self.view].options}
        if foreign:
            raise ValueError(f"the view {self.view} has no {' and no '.join(sorted(foreign))}")
        if "examples" in VIEWS[self.view].options and not self.examples:
            raise ValueError(f"the view {self.view} needs examples")
        for panel, coordinates in self.coordinates().items():
            if coordinates.given != _NEEDED:
                given = sorted(coordinates.given)
                raise ValueError(f"{panel}: {given} given, {sorted(_NEEDED)} needed")
        for example in self.examples:
            if example.panel not in self.panels:
                raise ValueError(f"examples: {example.panel!r} is no panel of {list(self.panels)}")
            if len(example.question) != len(self.examples[0].question):
                raise ValueError("examples: all need as many levels")
        return self

    @property
    def is_figure(self) -> bool:
        return VIEWS[self.view].is_figure

    def coordinates(self) -> dict[str, Coordinates]:
        """Return panel to what it looks into; raises ValueError when a key is given twice."""
        return {panel: self.cells | coordinates for panel, coordinates in self.panels.items()}
