"""Axes: what a cell has otherwise than its system, or data set, is configured."""

from collections.abc import Iterable, Mapping

from pydantic import ValidationError

from analogyqa.settings.analogies import SOLVER, SOLVING_AXES, Solving
from analogyqa.settings.base import AT, nearest_hint
from analogyqa.settings.data import DATASET_AXES, Dataset
from analogyqa.settings.systems import SYSTEM_AXES, TRAINING_AXES, System

__all__ = ["SOLVER"]  # what the other rooms take from here

# Sorted pairs of a name and a value as text.
Axes = tuple[tuple[str, str], ...]

DEFAULT = "default"  # how a path calls no axes
SETTING = "setting"  # the axis that a cell has at a setting of a selection; its one value is:
CHOSEN = "chosen"  # of the settings of a selection the one that the dev split prefers
NAMES = (*SYSTEM_AXES, *TRAINING_AXES, *DATASET_AXES, *SOLVING_AXES)


def text_of(value: object) -> str:
    """Return the value of an axis as paths and tables show it."""
    if value is None or value == []:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return str(value).removesuffix(".0")
    return "+".join(map(text_of, value)) if isinstance(value, list | tuple) else str(value)


def axes_of(values: Mapping[str, object]) -> Axes:
    """Return axes as a cell has them."""
    return tuple(sorted((name, text_of(value)) for name, value in values.items()))


def require_axes(values: Mapping[str, object]) -> Mapping[str, object]:
    """Return values of axes as they are.

    Raises ValueError for a name that is no axis, with the nearest one, and for a value that no
    system or data set has.
    """
    for name in values:
        if name not in NAMES:
            raise ValueError(f"{name!r} is no setting of a system{nearest_hint(name, NAMES)}")
    axes = axes_of(values)
    sections = (
        (System, changes(axes)),
        (Dataset, dict(of_dataset(axes))),
        (Solving, dict(axis for axis in axes if axis[0] in SOLVING_AXES)),
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


def to_text(axes: Axes) -> str:
    """Return axes as a part of a path: `dropout=0@loss=hinge`."""
    return AT.join(f"{name}={value}" for name, value in axes) or DEFAULT


def from_text(text: str) -> Axes:
    """Return the axes that `to_text` wrote; ValueError for what it cannot have written."""
    parts = [] if text == DEFAULT else [part.partition("=") for part in text.split(AT)]
    axes = {name: value for name, equals, value in parts if equals}
    if len(axes) < len(parts):
        raise ValueError(f"{text!r}: give {DEFAULT}, or name=value with {AT} between several")
    return axes_of(axes)


def of_dataset(axes: Axes) -> Axes:
    """Return the axes that change how a data set is read."""
    return tuple(axis for axis in axes if axis[0] in DATASET_AXES)


def changes(axes: Iterable[tuple[str, str]]) -> dict:
    """Return axes of a system as values to lay over its section, dots being nested mappings."""
    laid: dict = {}
    for name, value in axes:
        if name in TRAINING_AXES:
            *path, last = ("training", *name.split("."))
        elif name in SYSTEM_AXES:
            *path, last = name.split(".")
        else:
            continue
        place = laid
        for key in path:
            place = place.setdefault(key, {})
        place[last] = None if value == "null" else value
    return laid


def value_in(system: System, name: str) -> str:
    """Return the value that a system has on one of its axes."""
    value: object = system.training if name in TRAINING_AXES else system
    for key in name.split("."):
        value = getattr(value, key)
    return text_of(value)
