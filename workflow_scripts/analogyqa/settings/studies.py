"""A paper's studies: tuning, sensitivity, cross-validation, extra rows; and the bootstrap."""

from collections.abc import Set
from typing import Annotated, Any

from pydantic import AfterValidator, Field, model_validator

from analogyqa.measures import RANKED
from analogyqa.settings.base import (
    Entries,
    Name,
    OneOf,
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

    The best have the highest mean over seeds of the best dev value of `training.select_by`.
    """

    subset: Name
    """The subset on which the choices are compared."""
    systems: Entries[list[str]] = {}
    """The names of the choices that each system has; a list of systems has all of them."""
    hyperparameters: Entries[Changes] = {}
    """The changes of training that each choice makes, by name."""

    @model_validator(mode="before")
    @classmethod
    def _give_all_systems_all_choices(cls, values: dict) -> dict:
        systems, choices = values.get("systems"), values.get("hyperparameters")
        if not isinstance(choices, dict) or not isinstance(systems, list):
            return values
        if not all(isinstance(name, str) for name in systems):  # Pydantic names it
            return values
        return values | {"systems": {name: list(without_nulls(choices)) for name in systems}}


class Sensitivity(Section):
    """Choices that the paper leaves open, each varied alone on one subset."""

    subset: Name
    """The subset on which the variations are compared."""
    measure: str
    """The measure by which they are compared."""
    other_measures: Entries[Annotated[str, OneOf(RANKED)]] = {}
    """The measure on a data set where it is another one, such as one that the paper prints."""
    datasets: Annotated[list[str], Field(min_length=1)]
    """The data sets; null for all data sets of the paper."""
    systems: list[str] = []
    """The systems. If there are two, the paper claims that the first one is better."""
    choices: Entries[Entries[Changes]] = {}
    """The changes that each value of a choice makes, by choice and value."""

    def measure_on(self, dataset: str) -> str:
        return self.other_measures.get(dataset, self.measure)

    def variations(self) -> dict[tuple[str, str], dict[str, object]]:
        """Return the changes of each variation by (choice, value), starting with no change."""
        return {(PAPER, ""): {}} | {
            (choice, value): changes
            for choice, values in self.choices.items()
            for value, changes in values.items()
        }


class CrossValidation(Section):
    """Cross-validation with the paper's hyperparameters, over all questions of a subset."""

    subset: Name
    """The subset whose questions are divided into folds; see `corpora.folds`."""
    measures: Annotated[list[str], Field(min_length=1)] = list(RANKED)
    """The measures that the page shows, the main one first."""
    folds: Annotated[WholeNumber, Field(ge=2, le=20)] = 5
    """The number of folds."""
    datasets: Annotated[list[str], Field(min_length=1)]
    """The data sets; null for all data sets of the paper."""
    systems: list[str] = []
    """The systems that are cross-validated."""
    pairs: Entries[Annotated[list[str], Field(min_length=2, max_length=2)]] = {}
    """Pairs of these systems to compare, also by type of question or answer and by origin."""

    @model_validator(mode="after")
    def _pairs_are_cross_validated(self) -> "CrossValidation":
        for name, pair in self.pairs.items():
            require_known(f"pairs.{name}", pair, self.systems, "not among systems")
        return self


class Studies(Section):
    """A paper's studies: tuning, sensitivity, cross-validation and extra rows."""

    datasets: list[str] = []
    """The names of the data sets that the paper configures."""
    systems: list[str] = []
    """The names of the systems that the paper configures."""
    subsets: list[str] = []
    """The names of the subsets that the paper configures."""
    selection: Selection | None = None
    """The hyperparameters among which systems choose on dev."""
    sensitivity: Sensitivity | None = None
    """The choices that the paper leaves open, to vary each alone."""
    cross_validation: CrossValidation | None = None
    """The systems that are cross-validated."""
    extra_rows: Entries[list[str]] = {}
    """The systems that get an additional row in a table, by table."""

    @property
    def sections(self) -> dict[str, Selection | Sensitivity | CrossValidation]:
        """The studies that the paper has, by their keys."""
        keys = ("selection", "sensitivity", "cross_validation")
        return {key: section for key in keys if (section := getattr(self, key))}

    def without(self, names: Set[str]) -> "Studies":
        """Return the studies without some systems and data sets."""
        changed = {}
        for key, section in self.sections.items():
            kept: dict[str, Any] = {}
            for name in ("systems", "datasets"):
                values = getattr(section, name, [])
                kept[name] = [value for value in values if value not in names]
            if isinstance(section, Selection):
                kept = {"systems": {name: section.systems[name] for name in kept["systems"]}}
            if isinstance(section, CrossValidation):
                pairs = section.pairs.items()
                kept["pairs"] = {name: pair for name, pair in pairs if not names & {*pair}}
            changed[key] = section.model_copy(update=kept)
        return self.model_copy(update=changed)


class Bootstrap(Section):
    """The bootstrap behind the confidence intervals, which resamples seeds and items together."""

    samples: Annotated[WholeNumber, Field(ge=100, le=1_000_000)] = 2000
    """The number of samples."""
    confidence: float = Field(default=0.95, gt=0.5, lt=1)
    """The level of all intervals, between 0.5 and 1."""
