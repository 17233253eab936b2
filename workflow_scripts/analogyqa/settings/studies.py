"""Settings to choose from, open choices to vary, and the intervals."""

from typing import Annotated, Literal

from pydantic import (
    Field,
    model_validator,
)

from analogyqa.question_types import COMB, SUBSETS
from analogyqa.settings.base import Name, Section, WholeNumber

PAPER = "paper"
CHOSEN = "chosen"
SETTING_SEPARATOR = "+"
SETTING_PART = "."


class Selection(Section):
    """Settings that a trained model may choose from, by its mean dev MRR on one subset."""

    subset: Literal[SUBSETS] = COMB  # type: ignore[valid-type]
    models: list[str] = []
    settings: dict[Name, dict] = {}


class Variation(Section):
    """An open choice of the paper taken otherwise: changes of one of these sections."""

    training: dict = {}
    model: dict = {}
    dataset: dict = {}

    @model_validator(mode="after")
    def _changes_something(self) -> "Variation":
        if not (self.training or self.model or self.dataset):
            raise ValueError("change something: training, model or dataset")
        return self


class Sensitivity(Section):
    """The open choices, each varied alone around the paper's setting on one subset.

    `datasets` is null for all of them.
    """

    subset: Literal[SUBSETS] = COMB  # type: ignore[valid-type]
    datasets: list[str] | None = None
    models: list[str] = []
    axes: dict[Name, dict[Name, Variation]] = {}

    def variations(self) -> dict[str, Variation]:
        """Return all variations, by the name that ids of models and data sets carry."""
        return {
            axis + SETTING_PART + value: variation
            for axis, values in self.axes.items()
            for value, variation in values.items()
        }


class Bootstrap(Section):
    """The intervals: seeds and questions resampled together."""

    samples: Annotated[WholeNumber, Field(ge=100, le=1_000_000)] = 2000
    confidence: float = Field(default=0.95, gt=0.5, lt=1)


def join_id(name: str, setting: str) -> str:
    """Return the id of a model or data set at a setting."""
    return name if setting == PAPER else name + SETTING_SEPARATOR + setting


def split_id(identifier: str) -> tuple[str, str]:
    """Return what `join_id` joined: name and setting."""
    name, _, setting = identifier.partition(SETTING_SEPARATOR)
    return name, setting or PAPER
