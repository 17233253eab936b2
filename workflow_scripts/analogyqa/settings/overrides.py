"""Overrides: values that replace those of a system, its training or its data set for one cell."""

from collections.abc import Collection, Iterable, Mapping
from functools import cache, reduce

from pydantic import ValidationError

from analogyqa.objectives.specs import OBJECTIVES
from analogyqa.rankers.specs import RANKER_OVERRIDES
from analogyqa.settings.analogies import SOLVER, SOLVING_OVERRIDES, Evaluation, Solving
from analogyqa.settings.base import AT, message_of, nearest_hint
from analogyqa.settings.data import DATASET_OVERRIDES, Dataset
from analogyqa.settings.systems import SYSTEM_OVERRIDES, TRAINING_OVERRIDES, System

# Sorted pairs of a name and a value as text.
Overrides = tuple[tuple[str, str], ...]

DEFAULT = "default"  # the path component of a cell without overrides
# The override of a cell whose hyperparameters are tuned on dev. This is its only value.
HYPERPARAMETERS, TUNED = "hyperparameters", "tuned"
NAMES = (*SYSTEM_OVERRIDES, *TRAINING_OVERRIDES, *DATASET_OVERRIDES, *SOLVING_OVERRIDES)
# Those that competing systems share: which word vectors, which data, and how analogies are solved.
CONDITIONS = ("vectors", "shortest_word", *DATASET_OVERRIDES, *SOLVING_OVERRIDES)


def text_of(value: object) -> str:
    """Return the value of an override as text, for paths and tables."""
    if value is None or value == []:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return str(value).removesuffix(".0")
    return "+".join(map(text_of, value)) if isinstance(value, list | tuple) else str(value)


def as_overrides(values: Mapping[str, object]) -> Overrides:
    """Return a mapping of names and values as overrides."""
    return tuple(sorted((name, text_of(value)) for name, value in values.items()))


def require_overrides(values: Mapping[str, object]) -> Mapping[str, object]:
    """Return the values if they are overrides.

    Raises ValueError for an unknown name, with the nearest known one, and for an invalid value.
    """
    for name in values:
        if name not in NAMES:
            raise ValueError(f"{name!r} is not an override{nearest_hint(name, NAMES)}")
    _require_valid(as_overrides(values))
    return values


@cache  # the same overrides are in many coordinates
def _require_valid(overrides: Overrides) -> None:
    sections = (
        (System, changes(overrides)),
        (Dataset, dict(dataset_overrides(overrides))),
        (Solving, dict(among(overrides, SOLVING_OVERRIDES))),
    )
    for section, changed in sections:
        try:
            section.model_validate(changed)
        except ValidationError as error:  # at least about missing keys
            for item in error.errors():
                if item["type"] != "missing":
                    key = ".".join(map(str, item["loc"])).removeprefix("ranker.")
                    raise ValueError(f"{key}: {message_of(item)}") from None


def require_points(sweeps: dict[str, list]) -> None:
    """Raise ValueError unless each point of each sweep is a value of an override."""
    for name, points in sweeps.items():
        for point in points:
            require_overrides({name: point})


def to_text(overrides: Overrides) -> str:
    """Return overrides as a path component, such as `dropout=0@loss=hinge`."""
    return AT.join(f"{name}={value}" for name, value in overrides) or DEFAULT


def from_text(text: str) -> Overrides:
    """Return the overrides in a string made by `to_text`; raises ValueError for any other."""
    parts = [] if text == DEFAULT else [part.partition("=") for part in text.split(AT)]
    overrides = {name: value for name, equals, value in parts if equals}
    if len(overrides) < len(parts):
        raise ValueError(f"{text!r}: give {DEFAULT}, or name=value pairs separated by {AT}")
    return as_overrides(overrides)


def among(overrides: Overrides, names: Collection[str]) -> Overrides:
    """Return the overrides with certain names."""
    return tuple(override for override in overrides if override[0] in names)


def dataset_overrides(overrides: Overrides) -> Overrides:
    """Return the overrides that change how a data set is read."""
    return among(overrides, DATASET_OVERRIDES)


def solving_overrides(overrides: Overrides, dataset: Dataset) -> dict[str, str]:
    """Return the overrides of how analogies are solved, without those that change nothing.

    The solver is always given.
    """
    changed = dataset.evaluation_at(overrides)
    kept = {SOLVER: Solving().solver} | dict(among(overrides, SOLVING_OVERRIDES))
    for name in Evaluation.model_fields:
        kept.pop(name, None)
        if (value := getattr(changed, name)) != getattr(dataset.evaluation, name):
            kept[name] = text_of(value)
    return kept


def changes(overrides: Iterable[tuple[str, str]]) -> dict:
    """Return overrides as changes of a system's section; dots in names become nested mappings."""
    changed: dict = {}
    for name, value in overrides:
        if name in (*TRAINING_OVERRIDES, *SYSTEM_OVERRIDES):
            *path, last = _path(name)
            mapping = changed
            for key in path:
                mapping = mapping.setdefault(key, {})
            mapping[last] = None if value == "null" else value
    return changed


def _path(name: str) -> list[str]:
    """Return the nested keys of an override in the section of a system."""
    prefix = "training." if name in TRAINING_OVERRIDES else ""
    prefix = "ranker." if name in RANKER_OVERRIDES else prefix
    return f"{prefix}{name}".split(".")


def override_value(system: System, name: str) -> str:
    """Return the value of a system, as text, that an override of some name would replace."""
    return text_of(reduce(getattr, _path(name), system))


def effective_value(system: System, name: str) -> str:
    """Return the value of an override that a system really uses.

    A loss over both sides of the parallelogram equals its one-sided form for a system without
    prototypes.
    """
    value = override_value(system, name)
    one_sided = OBJECTIVES[value].one_sided if name == "loss" else None
    return one_sided if one_sided and not system.compares else value
