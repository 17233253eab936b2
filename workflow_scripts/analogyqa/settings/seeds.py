"""The seeds: a number, or a list of them."""

from typing import Annotated

from pydantic import AfterValidator, Field, TypeAdapter, ValidationError

from analogyqa.errors import shown
from analogyqa.settings.base import Lenient, WholeNumber, first_message, number_of
from analogyqa.settings.overrides import from_text, require_overrides, to_text

MOST_SEEDS = 10_000
# The keys, besides subsets and overrides, that may have seeds of their own.
CROSS_VALIDATION, VARIATIONS, ALL_OTHERS = KEYS = ("cross_validation", "variations", "default")


def _distinct(seeds: list[int]) -> list[int]:
    if len(set(seeds)) < len(seeds):
        raise ValueError("the seeds must differ from each other")
    return seeds


def _seed_list(value: object) -> object:
    value = number_of(value)
    if isinstance(value, int) and not isinstance(value, bool):
        if value < 1:
            raise ValueError("at least 1 seed is needed")
        if value > MOST_SEEDS:
            raise ValueError(f"at most {MOST_SEEDS:,} seeds can be asked for")
        return list(range(value))
    if not isinstance(value, list):
        raise ValueError(
            "give a number, a list of numbers, or a mapping from subsets, overrides, "
            f"{CROSS_VALIDATION}, {VARIATIONS} and {ALL_OTHERS} to numbers or lists"
        )
    return value


Seeds = Annotated[
    list[Annotated[WholeNumber, Field(ge=0, lt=2**31)]],
    Field(min_length=1),
    Lenient(_seed_list, types=("integer",)),
    AfterValidator(_distinct),
]


def _key(name: str) -> str:
    """Return a key of `seeds`; overrides in the order of those of a cell."""
    if "=" not in name:
        return name
    try:
        overrides = from_text(name)
        require_overrides(dict(overrides))
    except ValueError as error:
        raise ValueError(f"seeds: {error}") from None
    return to_text(overrides)


def split_by_subset(values: dict) -> dict:
    """Return a configuration with a mapping of `seeds` divided into `seeds` and `seeds_of`."""
    seeds = values.get("seeds")
    if not isinstance(seeds, dict):
        return values
    if ALL_OTHERS not in seeds:
        raise ValueError(f"seeds: {ALL_OTHERS} is missing; give it the seeds of all other cells")
    by_subset = {}
    for name, value in seeds.items():
        try:
            by_subset[_key(name)] = TypeAdapter(Seeds).validate_python(value)
        except ValidationError as error:
            text = f"seeds.{name}: {shown(value)} is not allowed: {first_message(error)}"
            raise ValueError(text) from None
    variations = set(by_subset.get(VARIATIONS, []))
    for name, subset_seeds in by_subset.items():
        if variations and name != CROSS_VALIDATION and not variations & set(subset_seeds):
            raise ValueError(
                f"seeds.{VARIATIONS}: no seed in common with seeds.{name}, so dev cannot choose"
            )
    return {**values, "seeds": by_subset.pop(ALL_OTHERS), "seeds_of": by_subset}
