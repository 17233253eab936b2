"""Coordinates: which of our numbers or runs a number, figure or claim of a paper is about."""

from collections.abc import Collection
from typing import Annotated, Literal, NamedTuple

from pydantic import ConfigDict, model_validator

from analogyqa.measures import MEASURES
from analogyqa.settings.base import OneOf, Section, Split
from analogyqa.settings.overrides import NAMES, Overrides, among, as_overrides, require_overrides

# The kinds of our numbers: the score of a system, a count in a data set, a cost of training, or the
# mean norm of the vectors of a trained encoder. All but scores have the name of their key.
SCORE, COUNT, COST, NORM = "score", "count", "cost", "norm"


class NumberKind(NamedTuple):
    """A kind of numbers: the keys that identify one, and whether the metrics of runs give it."""

    keys: set[str]
    from_metrics: bool = False


KINDS = {
    SCORE: NumberKind({"system", "dataset", "subset", "measure"}, from_metrics=True),
    COUNT: NumberKind({"dataset", "subset", "split", "count"}),
    COST: NumberKind({"system", "dataset", "subset", "cost"}),
    NORM: NumberKind({"system", "dataset", "subset", "norm"}),
}


class Coordinates(Section):
    """The coordinates of a published number or a claim, in full or in part.

    Further keys are overrides: of the system, or of how the data set is read.
    """

    model_config = ConfigDict(extra="allow", frozen=True)

    system: str = ""
    """The system that a score, a cost or a norm is of."""
    dataset: str = ""
    """The data set."""
    subset: str = ""
    """The subset; a relation of a data set of relations is one, too."""
    split: Split | None = None
    """The split that is counted in."""
    measure: Annotated[str, OneOf(MEASURES)] | None = None
    """The measure of a score."""
    count: Literal["questions", "all_questions", "pairs", "analogies"] | None = None
    """What is counted: questions with a correct candidate (or sentence pairs), all questions,
    question-candidate pairs, or analogies between two questions of one type."""
    cost: Literal["parameters", "seconds_per_epoch"] | None = None
    """The training cost: trained parameters, or seconds per epoch."""
    over: str = ""
    """The system whose cost the cost is divided by."""
    norm: Literal["question", "answer"] | None = None
    """Whether the vectors of test questions or of their correct answers are meant."""

    @model_validator(mode="after")
    def _overrides_are_known(self) -> "Coordinates":
        if self.model_extra:
            require_overrides(self.model_extra)
        return self

    def __or__(self, other: "Coordinates") -> "Coordinates":
        """Return the union of both; raises ValueError when both have the same key."""
        if twice := self.model_fields_set & other.model_fields_set:
            raise ValueError(f"{sorted(twice)} is given twice")
        return Coordinates(
            **self.model_dump(exclude_unset=True), **other.model_dump(exclude_unset=True)
        )

    @property
    def overrides(self) -> Overrides:
        return as_overrides(self.model_extra or {})

    @property
    def key(self) -> tuple:
        """What identifies a score; override values compare as text, so 1 equals "1"."""
        return (self.system, self.dataset, self.subset, self.measure, self.overrides)

    def agrees_with(self, other: "Coordinates", names: Collection[str] = NAMES) -> bool:
        """Return whether data, measure and those of some overrides that both have are equal."""
        first, second = (dict(among(at.overrides, names)) for at in (self, other))
        in_both = first.keys() & second.keys()
        return self.key[1:4] == other.key[1:4] and all(first[key] == second[key] for key in in_both)

    @property
    def kind(self) -> str:
        return next((kind for kind in KINDS if kind in self.model_fields_set), SCORE)

    @property
    def measured(self) -> str:
        """What is measured, such as "map", "pairs", "parameters over bm25", "norm of answers"."""
        if self.norm:
            return f"{NORM} of {self.norm}s"
        over = f" over {self.over}" if self.over else ""
        return self.measure or f"{getattr(self, self.kind, '')}{over}"

    @property
    def given(self) -> set[str]:
        """The given keys that are not overrides."""
        return self.model_fields_set - set(self.model_extra or {})


def require_given(location: str, given: set[str], needed: set[str]) -> None:
    """Raise ValueError, which names the location, unless exactly the needed keys are given."""
    faults = [f"{key} is missing" for key in sorted(needed - given)]
    faults += [f"remove {key}" for key in sorted(given - needed)]
    if faults:
        raise ValueError(f"{location}: {', '.join(faults)}")
