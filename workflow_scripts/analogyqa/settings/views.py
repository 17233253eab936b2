"""Views: tables and figures that look into trained encoders."""

from typing import Annotated

from pydantic import Field, model_validator

from analogyqa.report.views.specs import VIEWS, ViewSpec
from analogyqa.settings.base import OneOf, Section
from analogyqa.settings.coordinates import Coordinates, require_given

_OF_CELL = {"system", "dataset", "subset"}


class Example(Section):
    """A question and an answer whose words a paper shows at each level of norm.

    Args:
        panel: The panel whose encoder is read.
        find: Words of the question; the first test question with all of them is taken.
        question, answer: The printed words of the question and of the answer at each level.
    """

    panel: str
    find: str = Field(min_length=1)
    question: list[str] = Field(min_length=1)
    answer: list[str] = Field(min_length=1)

    @model_validator(mode="after")
    def _same_levels(self) -> "Example":
        if len(self.question) != len(self.answer):
            raise ValueError(
                f"the question has {len(self.question)} levels, the answer {len(self.answer)}"
            )
        return self


class Quote(Section):
    """A question and an answer that a paper prints; [...] stands for words that it leaves out.

    Args:
        example: The example that it is a part of.
        question, answer: The printed texts.
    """

    example: str
    question: str = Field(min_length=1)
    answer: str = Field(min_length=1)


class View(Section):
    """A table or figure that is made of vectors, prototypes or texts instead of scores.

    Args:
        title: The caption.
        view: A key of `VIEWS`.
        cells: The coordinates that all panels share.
        panels: The system, data set and subset that each panel looks into; for a view of corpora,
            the data set.
        levels: The words that the paper prints at each level of norm, for views that read them.
        examples: The questions that the paper prints, for views that read them.
        quotes: The questions and answers that the paper prints, for views that read them.
    """

    title: str
    view: Annotated[str, OneOf(VIEWS)]
    cells: Coordinates = Coordinates()
    panels: dict[str, Coordinates] = Field(min_length=1, max_length=2)
    levels: dict[str, str] = {}
    examples: list[Example] = []
    quotes: list[Quote] = []

    @model_validator(mode="after")
    def _check_contents(self) -> "View":
        options = {"levels", "examples", "quotes"}
        foreign = self.model_fields_set & options - {*self.spec.options}
        if foreign:
            raise ValueError(f"the view {self.view} has no {' and no '.join(sorted(foreign))}")
        for name in ("examples", "quotes"):
            if name in self.spec.options and not getattr(self, name):
                raise ValueError(f"the view {self.view} needs {name}")
        needed = {"dataset"} if self.spec.reads == "corpus" else _OF_CELL
        for panel, coordinates in self.coordinates().items():
            require_given(panel, coordinates.given, needed)
        for example in self.examples:
            if example.panel not in self.panels:
                raise ValueError(
                    f"examples: {example.panel!r} is not one of the panels {list(self.panels)}"
                )
            if len(example.question) != len(self.examples[0].question):
                raise ValueError("examples: all must have the same number of levels")
        return self

    @property
    def spec(self) -> ViewSpec:
        return VIEWS[self.view]

    def coordinates(self) -> dict[str, Coordinates]:
        """Return the coordinates of each panel; raises ValueError when a key is given twice."""
        return {panel: self.cells | coordinates for panel, coordinates in self.panels.items()}
