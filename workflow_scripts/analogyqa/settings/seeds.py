"""The seeds: a number, or a list of them."""

from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field

from analogyqa.settings.base import WholeNumber, number_of

MOST_SEEDS = 10_000
CROSS_VALIDATION, ALL_OTHERS = (
    "cross_validation",
    "default",
)  # beside subsets, what may have seeds of its own


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
            f"give a number or a list of numbers; or a mapping of a subset, {CROSS_VALIDATION} and "
            f"{ALL_OTHERS} to such"
        )
    return value


Seeds = Annotated[
    list[Annotated[WholeNumber, Field(ge=0, lt=2**31)]],
    Field(min_length=1),
    BeforeValidator(_seed_list),
    AfterValidator(_distinct),
]
