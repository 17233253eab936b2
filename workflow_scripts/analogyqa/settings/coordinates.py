"""A place: which of our numbers, or of our runs, something of a paper is about."""

from typing import Literal

from pydantic import ConfigDict, model_validator

from analogyqa.measures import MEASURES
from analogyqa.schemas import SPLITS
from analogyqa.settings.base import Section
from analogyqa.settings.overrides import Overrides, as_overrides, require_overrides

# What a number of ours is: the score of a system, a count of a data set, a cost of training, or the
# norm of what a trained encoder makes.
SCORE, COUNT, COST, NORM = "score", "count", "cost", "norm"
# Kind to the keys that say all of it.
NEEDED = {
    SCORE: {"system", "dataset", "subset", "measure"},
    COUNT: {"dataset", "subset", "split", "count"},
    COST: {"system", "dataset", "subset", "cost"},
    NORM: {"system", "dataset", "subset", "norm"},
}


class Coordinates(Section):
    """Which of our numbers a published value or a claim is about, or a part of that.

    `count` is of a data set: questions with a correct candidate (of relations: pairs of sentences),
    all questions, pairs, or analogies between two questions of one type. `cost` is of training a
    system, and with `over` how many times that of another one. `norm` is of what a trained encoder
    makes of test questions, or of their right answers. A further key names a
    setting of the system, or of how the data set is read, and its value.
    """

    model_config = ConfigDict(extra="allow", frozen=True)

    system: str | None = None
    dataset: str | None = None
    subset: str | None = None
    split: Literal[SPLITS] | None = None  # type: ignore[valid-type]
    measure: Literal[tuple(MEASURES)] | None = None  # type: ignore[valid-type]
    count: Literal["questions", "all_questions", "pairs", "analogies"] | None = None
    cost: Literal["parameters", "seconds_per_epoch"] | None = None
    over: str | None = None
    norm: Literal["question", "answer"] | None = None

    @model_validator(mode="after")
    def _overrides_are_known(self) -> "Coordinates":
        if self.model_extra:
            require_overrides(self.model_extra)
        return self

    def __or__(self, other: "Coordinates") -> "Coordinates":
        """Return what both say together; ValueError when both say the same key."""
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
        """Whose score it is, equal for overrides whose values are written as numbers or as text."""
        return (self.system, self.dataset, self.subset, self.measure, self.overrides)

    @property
    def kind(self) -> str:
        kinds = {COUNT: self.count, COST: self.cost, NORM: self.norm}
        return next((kind for kind, said in kinds.items() if said), SCORE)

    @property
    def measured(self) -> str | None:
        """What is measured: a measure, a cost, or whose norms."""
        return self.measure or self.cost or (f"{NORM} of {self.norm}s" if self.norm else None)

    @property
    def given(self) -> set[str]:
        """The keys that are given, besides the overrides."""
        return self.model_fields_set - set(self.model_extra or {})


def require_given(place: str, given: set[str], kind: str) -> None:
    """Raise ValueError, which names the place, where other keys are given than a kind needs."""
    if given != NEEDED[kind]:
        raise ValueError(f"{place}: {sorted(given)} given, {sorted(NEEDED[kind])} needed")
