"""A paper's studies: tuning, sensitivity, cross-validation, extra rows; and the bootstrap."""

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

PAPER = "paper"  # the name of the hyperparameters that a paper states

# Changes of a system, its training or its data set: values by override.
Changes = Annotated[dict[str, object], Field(min_length=1), AfterValidator(require_overrides)]


class Selection(Section):
    """The hyperparameters among which trained systems choose on dev, besides those of the paper.

    The best have the highest mean over seeds of the best dev value, on one subset and by the
    measure that the system's training selects its epoch by.

    Args:
        subset: The subset on which the choices are compared.
        systems: The names of the choices that each system has; a list of systems has all of them.
        hyperparameters: The changes of training that each choice makes, by name.
    """

    subset: Name
    systems: Entries[list[str]] = {}
    hyperparameters: Entries[Changes] = {}

    @model_validator(mode="before")
    @classmethod
    def _all_of_them(cls, values: dict) -> dict:
        systems, choices = values.get("systems"), values.get("hyperparameters")
        if not (isinstance(systems, list) and isinstance(choices, dict)):
            return values
        if not all(isinstance(name, str) for name in systems):  # Pydantic names it
            return values
        return {**values, "systems": {name: list(without_nulls(choices)) for name in systems}}


class Sensitivity(Section):
    """Choices that the paper leaves open, each varied alone on one subset.

    Args:
        subset: The subset on which the variations are compared.
        measure: The measure by which they are compared.
        datasets: The data sets; null for all data sets of the paper.
        systems: The systems. If there are two, the paper claims that the first one is better.
        choices: The changes that each value of a choice makes, by choice and value.
    """

    subset: Name
    measure: str
    datasets: Annotated[list[str], Field(min_length=1)]
    systems: list[str] = []
    choices: Entries[Entries[Changes]] = {}

    def variations(self) -> dict[tuple[str, str], dict[str, object]]:
        """Return the changes of each variation by (choice, value), starting with no change."""
        return {(PAPER, ""): {}} | {
            (choice, value): changes
            for choice, values in self.choices.items()
            for value, changes in values.items()
        }


class CrossValidation(Section):
    """Cross-validation with the paper's hyperparameters, over all questions of a subset.

    Args:
        subset: The subset whose questions are divided into folds; see `corpora.folds`.
        measures: The measures that the page shows, the main one first.
        folds: The number of folds.
        datasets: The data sets; null for all data sets of the paper.
        systems: The systems that are cross-validated.
        pairs: Pairs of these systems that are compared by type of question and of answer.
    """

    subset: Name
    measures: Annotated[list[str], Field(min_length=1)] = list(RANKED)
    folds: Annotated[WholeNumber, Field(ge=2, le=20)] = 5
    datasets: Annotated[list[str], Field(min_length=1)]
    systems: list[str] = []
    pairs: Entries[Annotated[list[str], Field(min_length=2, max_length=2)]] = {}

    @model_validator(mode="after")
    def _pairs_are_cross_validated(self) -> "CrossValidation":
        for name, pair in self.pairs.items():
            require_known(f"pairs.{name}", pair, self.systems, "not among systems")
        return self


class Studies(Section):
    """A paper's studies: tuning, sensitivity, cross-validation and extra rows.

    Args:
        datasets, systems, subsets: The names of those that the paper configures.
        selection: The hyperparameters among which systems choose on dev.
        sensitivity: The choices that the paper leaves open, to vary each alone.
        cross_validation: The systems that are cross-validated.
        extra_rows: The systems that get an additional row in a table, by table.
    """

    datasets: list[str] = []
    systems: list[str] = []
    subsets: list[str] = []
    selection: Selection | None = None
    sensitivity: Sensitivity | None = None
    cross_validation: CrossValidation | None = None
    extra_rows: Entries[list[str]] = {}


class Bootstrap(Section):
    """The bootstrap behind the confidence intervals, which resamples seeds and items together.

    Args:
        samples: The number of samples.
        confidence: The level of all intervals, between 0.5 and 1.
    """

    samples: Annotated[WholeNumber, Field(ge=100, le=1_000_000)] = 2000
    confidence: float = Field(default=0.95, gt=0.5, lt=1)
