"""What a paper's configuration asks for beyond its artefacts: settings to choose from, open choices
to vary, further rows. And the intervals."""

from typing import Annotated

from pydantic import AfterValidator, Field, model_validator

from analogyqa.measures import RANKED
from analogyqa.settings.base import (
    Entries,
    Name,
    Section,
    WholeNumber,
    require_known,
    without_nulls,
)
from analogyqa.settings.overrides import require_overrides

PAPER = "paper"  # the setting that a paper states


# Changes of a system, its training or its data set: override to value.
Changes = Annotated[dict[str, object], Field(min_length=1), AfterValidator(require_overrides)]


class Selection(Section):
    """Settings that trained systems may choose from, by the mean of their best dev value.

    It is the measure that the system's training selects its epoch by, on one subset. `settings`
    says what each changes of the training; `paper` is no change. `systems` maps a system to the
    settings that it may choose, beside `paper`; a list of systems may choose all of them.
    """

    subset: Name
    systems: Entries[list[str]] = {}
    settings: Entries[Changes] = {}

    @model_validator(mode="before")
    @classmethod
    def _all_of_them(cls, values: dict) -> dict:
        systems, settings = values.get("systems"), without_nulls(values.get("settings"))
        if not (isinstance(systems, list) and isinstance(settings, dict)):
            return values
        return {**values, "systems": {name: list(settings) for name in systems}}


class Sensitivity(Section):
    """The open choices, each varied alone around the paper's hyperparameters on one subset.

    `datasets` is null for all of the paper's, whose names the loaded section has. Of two systems
    the first is claimed to be better, by `measure`.
    """

    subset: Name
    measure: str
    datasets: Annotated[list[str], Field(min_length=1)]
    systems: list[str] = []
    choices: Entries[Entries[Changes]] = {}

    def variations(self) -> dict[tuple[str, str], dict[str, object]]:
        """Return what each variation changes, by choice and value; no change first."""
        return {(PAPER, ""): {}} | {
            (choice, value): changes
            for choice, values in self.choices.items()
            for value, changes in values.items()
        }


class CrossValidation(Section):
    """Systems cross-validated with the paper's hyperparameters, on all questions of a subset.

    Each of the `folds` is tested by what was trained on the others; see `corpora.folds`. `datasets`
    is as in `Sensitivity`. Of the `measures`, which the page shows, the first is the main one.
    `pairs` are two of the systems each, held against each other by type of question and of answer.
    """

    subset: Name
    measures: Annotated[list[str], Field(min_length=1)] = list(RANKED)
    folds: Annotated[WholeNumber, Field(ge=2, le=20)] = 5
    datasets: Annotated[list[str], Field(min_length=1)]
    systems: list[str] = []
    pairs: Entries[Annotated[list[str], Field(min_length=2, max_length=2)]] = {}

    @model_validator(mode="after")
    def _pairs_are_cross_fitted(self) -> "CrossValidation":
        for name, pair in self.pairs.items():
            for system in pair:
                require_known(f"pairs.{name}", system, self.systems, "not among systems")
        return self


class Studies(Section):
    """Of one paper's configuration, what is about the paper.

    `datasets`, `systems` and `subsets` are those that it configures. `extra_rows` maps a table to
    systems that it does not have and that get a row of their own in it.
    """

    datasets: list[str] = []
    systems: list[str] = []
    subsets: list[str] = []
    selection: Selection | None = None
    sensitivity: Sensitivity | None = None
    cross_validation: CrossValidation | None = None
    extra_rows: dict[Name, list[str]] = {}


class Bootstrap(Section):
    """The intervals: seeds and items resampled together."""

    samples: Annotated[WholeNumber, Field(ge=100, le=1_000_000)] = 2000
    confidence: float = Field(default=0.95, gt=0.5, lt=1)
