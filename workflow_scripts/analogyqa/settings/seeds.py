"""The seeds: a number, or a list of them."""

from contextlib import suppress
from typing import Annotated

from pydantic import Field, TypeAdapter, ValidationError

from analogyqa.errors import shown
from analogyqa.settings.base import Lenient, WholeNumber, checked_by, first_message, parse_number
from analogyqa.settings.overrides import as_overrides, from_text, require_overrides, to_text

MOST_SEEDS = 10_000
# The keys, besides subsets and overrides, that may have seeds of their own.
CROSS_VALIDATION, VARIATIONS, ALL_OTHERS = KEYS = ("cross_validation", "variations", "default")


def _require_distinct(seeds: list[int]) -> None:
    if len(set(seeds)) < len(seeds):
        raise ValueError("the seeds must differ from each other")


def _seed_list(value: object) -> object:
    value = parse_number(value)
    if isinstance(value, list):
        return value
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(
            "give a number, a list of numbers, or a mapping from subsets, overrides, "
            f"{CROSS_VALIDATION}, {VARIATIONS} and {ALL_OTHERS} to numbers or lists"
        )
    if not 1 <= value <= MOST_SEEDS:
        raise ValueError(f"give at least 1 seed and at most {MOST_SEEDS:,}")
    return list(range(value))


Seeds = Annotated[
    list[Annotated[WholeNumber, Field(ge=0, lt=2**31)]],
    Field(min_length=1),
    Lenient(_seed_list, types=("integer",)),
    checked_by(_require_distinct),
]


def _key(name: object) -> str:
    """Return a key of `seeds`; overrides as those of a cell are written."""
    if not isinstance(name, str):
        raise ValueError(f"seeds: {shown(name)} is not allowed: put it in quotes")
    if "=" not in name:
        return name
    try:
        overrides = from_text(name)
        require_overrides(dict(overrides))
    except ValueError as error:
        raise ValueError(f"seeds: {error}") from None
    values = {override: _parse(value) for override, value in overrides}
    return to_text(as_overrides(values))


def _parse(value: str) -> object:
    """Return the number in a text, such as 0.5 for 0.50; any other text unchanged."""
    with suppress(ValueError):
        return float(value)
    return value


def split_seeds(values: dict) -> dict:
    """Return a configuration with a mapping of `seeds` divided into `seeds` and `seeds_of`."""
    seeds = values.get("seeds")
    if not isinstance(seeds, dict):
        return values
    if ALL_OTHERS not in seeds:
        raise ValueError(f"seeds: {ALL_OTHERS} is missing; give it the seeds of all other cells")
    seeds_of = {}
    for name, value in seeds.items():
        key = _key(name)
        if key in seeds_of:
            raise ValueError(f"seeds: {name} and an earlier key are the same. Remove one of them")
        try:
            seeds_of[key] = TypeAdapter(Seeds).validate_python(value)
        except ValidationError as error:
            text = f"seeds.{name}: {shown(value)} is not allowed: {first_message(error)}"
            raise ValueError(text) from None
    variations = set(seeds_of.get(VARIATIONS, []))
    for name, key_seeds in seeds_of.items():
        if variations and name != CROSS_VALIDATION and not variations & set(key_seeds):
            text = f"no seed in common with seeds.{name}, so dev cannot choose"
            raise ValueError(f"seeds.{VARIATIONS}: {text}")
    return {**values, "seeds": seeds_of.pop(ALL_OTHERS), "seeds_of": seeds_of}
