"""Verdicts: how an interval of ours compares with a published value."""

from collections.abc import Iterable
from typing import NamedTuple

import pandas as pd

from analogyqa.cells import Cell

REPRODUCED, HIGHER, LOWER = "reproduced", "higher", "lower"
INCONCLUSIVE, ENFORCED = "inconclusive", "enforced"
NOT_RUN, NOT_COMPARABLE = "not run", "not comparable"
OTHER_DATA = "our data are not the paper's"


class Look(NamedTuple):
    """How pages show a verdict: with a mark, with a colour, and what it means."""

    mark: str
    colour: str
    meaning: str


# Blue, orange and grey differ for any colour vision. Misses in both directions have one colour.
LOOKS = {
    REPRODUCED: Look(
        "=",
        "🟦",
        "the published value is in the prediction interval of one more run; without ±, it is our "
        "value as printed",
    ),
    HIGHER: Look("↑", "🟧", "our interval is above the published value"),
    LOWER: Look("↓", "🟧", "our interval is below the published value"),
    INCONCLUSIVE: Look(
        "?",
        "⬜",
        "the interval also contains the published value of a competing system, several points of "
        "a curve may be the best, or there is only one seed",
    ),
    ENFORCED: Look(
        "≡",
        "⬛",
        "the pipeline refuses data with another count, or makes just as many pairs, so agreement "
        "is no evidence",
    ),
    NOT_RUN: Look("–", "➖", "we have no value; the reason is given"),
    NOT_COMPARABLE: Look("×", "✖", "our data or our machine is not the paper's"),
}
# The marks in tables, where a value that was not run or not compared has none.
MARKS = {name: look.mark for name, look in LOOKS.items() if name not in (NOT_RUN, NOT_COMPARABLE)}


def verdict(
    published: float, low: float | None, high: float | None, competitors: Iterable[float] = ()
) -> str:
    """Compare our interval with a published value.

    Args:
        published: The published value.
        low, high: Our interval; None or NaN if it is not known, which is inconclusive.
        competitors: The published values of competing systems, which the paper calls better or
            worse. If one of them is in the interval, too, the verdict is inconclusive.
    """
    if low is None or high is None or pd.isna(low):
        return INCONCLUSIVE
    if low <= published <= high:
        is_shared = any(low <= competitor <= high for competitor in competitors)
        return INCONCLUSIVE if is_shared else REPRODUCED
    return HIGHER if low > published else LOWER


NO_RUN = "no run"  # begins the reason for a value whose cells are configured


def not_run(reason: str) -> dict:
    """Return the verdict and the reason of a value that we do not have."""
    return {"verdict": NOT_RUN, "reason": reason}


def no_run(*cells: Cell) -> str:
    """Return the reason for a value whose cells are configured but have no run."""
    return f"{NO_RUN} {', '.join(dict.fromkeys(cell.path for cell in cells))}"
