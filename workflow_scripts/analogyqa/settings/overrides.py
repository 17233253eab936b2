"""Overrides: what a cell has otherwise than its system, or data set, is configured."""

from collections.abc import Iterable, Mapping

from pydantic import ValidationError

from analogyqa.settings.analogies import SOLVER, SOLVING_OVERRIDES, Solving
from analogyqa.settings.base import AT, nearest_hint
from analogyqa.settings.data import DATASET_OVERRIDES, Dataset
from analogyqa.settings.systems import SYSTEM_OVERRIDES, TRAINING_OVERRIDES, System

__all__ = ["SOLVER"]  # what the other rooms take from here

# Sorted pairs of a name and a value as text.
Overrides = tuple[tuple[str, str], ...]

DEFAULT = "default"  # how a path calls no overrides
HYPERPARAMETERS = (
    "hyperparameters"  # the override that a cell has at a setting of a selection; its one value is:
)
TUNED = "tuned"  # of the settings of a selection the one that the dev split prefers
NAMES = (*SYSTEM_OVERRIDES, *TRAINING_OVERRIDES, *DATASET_OVERRIDES, *SOLVING_OVERRIDES)


def text_of(value: object) -> str:
    """Return the value of an override as paths and tables show it."""
    if value is None or value == []:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return str(value).removesuffix(".0")
    return "+".join(map(text_of, value)) if isinstance(value, list | tuple) else str(value)


def as_overrides(values: Mapping[str, object]) -> Overrides:
    """Return overrides as a cell has them."""
    return tuple(sorted((name, text_of(value)) for name, value in values.items()))


def require_overrides(values: Mapping[str, object]) -> Mapping[str, object]:
    """Return values of overrides as they are.

    Raises ValueError for a name that is no override, with the nearest one, and for a value that no
    system or data set has.
    """
    for name in values:
        if name not in NAMES:
            raise ValueError(f"{name!r} is no setting of a system{nearest_hint(name, NAMES)}")
    overrides = as_overrides(values)
    sections = (
        (System, changes(overrides)),
        (Dataset, dict(dataset_overrides(overrides))),
        (Solving, dict(override for override in overrides if override[0] in SOLVING_OVERRIDES)),
    )
    for section, changed in sections:
        try:
            section.model_validate(changed)
        except ValidationError as error:  # always, as a change is not all of it
            for item in error.errors():
                if item["type"] != "missing":
                    key = ".".join(map(str, item["loc"]))
                    text = item["msg"].removeprefix("Value error, ")
                    raise ValueError(f"{key}: {text}") from None
    return values


def to_text(overrides: Overrides) -> str:
    """Return overrides as a part of a path: `dropout=0@loss=hinge`."""
    return AT.join(f"{name}={value}" for name, value in overrides) or DEFAULT


def from_text(text: str) -> Overrides:
    """Return the overrides that `to_text` wrote; ValueError for what it cannot have written."""
    parts = [] if text == DEFAULT else [part.partition("=") for part in text.split(AT)]
    overrides = {name: value for name, equals, value in parts if equals}
    if len(overrides) < len(parts):
        raise ValueError(f"{text!r}: give {DEFAULT}, or name=value with {AT} between several")
    return as_overrides(overrides)


def dataset_overrides(overrides: Overrides) -> Overrides:
    """Return the overrides that change how a data set is read."""
    return tuple(override for override in overrides if override[0] in DATASET_OVERRIDES)


def changes(overrides: Iterable[tuple[str, str]]) -> dict:
    """Return overrides of a system as values to lay over its section; dots nest mappings."""
    laid: dict = {}
    for name, value in overrides:
        if name in TRAINING_OVERRIDES:
            *path, last = ("training", *name.split("."))
        elif name in SYSTEM_OVERRIDES:
            *path, last = name.split(".")
        else:
            continue
        place = laid
        for key in path:
            place = place.setdefault(key, {})
        place[last] = None if value == "null" else value
    return laid


def override_value(system: System, name: str) -> str:
    """Return the value that a system has on one of its overrides."""
    value: object = system.training if name in TRAINING_OVERRIDES else system
    for key in name.split("."):
        value = getattr(value, key)
    return text_of(value)
