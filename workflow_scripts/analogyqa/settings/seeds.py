"""The seeds: a number, or a list of them."""

from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field

from analogyqa.settings.base import WholeNumber, number_of

MOST_SEEDS = 10_000
# The keys, besides subsets, that may have seeds of their own.
CROSS_VALIDATION, ALL_OTHERS = "cross_validation", "default"


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
            f"give a number, a list of numbers, or a mapping from subsets, {CROSS_VALIDATION} and "
            f"{ALL_OTHERS} to numbers or lists"
        )
    return value


Seeds = Annotated[
    list[Annotated[WholeNumber, Field(ge=0, lt=2**31)]],
    Field(min_length=1),
    BeforeValidator(_seed_list),
    AfterValidator(_distinct),
]
