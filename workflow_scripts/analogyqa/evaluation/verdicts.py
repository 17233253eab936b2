"""Verdicts: how our interval compares with a published value, and which values runs can give."""

from collections.abc import Iterable
from math import ceil, floor, inf
from typing import NamedTuple

import pandas as pd

from analogyqa.cells import Cell
from analogyqa.measures import MEASURES

REPRODUCED, HIGHER, LOWER = "reproduced", "higher", "lower"
INCONCLUSIVE, ENFORCED = "inconclusive", "enforced"
NOT_LEARNED, NOT_RUN, NOT_COMPARABLE = "did not learn", "not run", "not comparable"
OTHER_DATA = "our data are not the paper's"
PAPER_DATA, OUR_DATA = "the paper's data", "our data"  # the values of `data` in a ledger


class Look(NamedTuple):
    """How pages show a verdict: with a mark, with a colour, and what it means."""

    mark: str
    colour: str
    meaning: str


# The marks also differ without their colours.
LOOKS = {
    REPRODUCED: Look(
        "=",
        "🟩",
        "the published value is in the prediction interval of one more run; without ±, it is our "
        "value as printed",
    ),
    HIGHER: Look("↑", "🟦", "our interval is above the published value"),
    LOWER: Look("↓", "🟧", "our interval is below the published value"),
    INCONCLUSIVE: Look(
        "?",
        "⬜",
        "the interval contains the published value, but is not narrower than half of its "
        "difference from a competing system's, or several points of a curve may be the best, or "
        "there is only one seed",
    ),
    ENFORCED: Look(
        "≡",
        "⬛",
        "the pipeline refuses data with another count, or makes just as many pairs, so agreement "
        "is no evidence",
    ),
    NOT_LEARNED: Look(
        "!",
        "❗",
        "the loss of some training runs is not below that of one constant energy, so nothing "
        "follows from the mean",
    ),
    NOT_RUN: Look("–", "➖", "we have no value; the reason is given"),
    NOT_COMPARABLE: Look("×", "✖", "our data or our machine is not the paper's"),
}
# The marks in tables, where a value that was not run or not compared has none.
MARKS = {name: look.mark for name, look in LOOKS.items() if name not in (NOT_RUN, NOT_COMPARABLE)}


# A value is reproduced only by an interval narrower than this share of the paper's margin.
NARROW = 0.5


def paper_margin(published: float, competitors: Iterable[float]) -> float:
    """Return the smallest difference to the value of a competing system; infinite for none."""
    return min((abs(published - value) for value in competitors), default=inf)


def verdict(
    published: float, low: float | None, high: float | None, competitors: Iterable[float] = ()
) -> str:
    """Compare our interval with a published value.

    Args:
        published: The published value.
        low, high: Our interval; None or NaN if it is not known, which is inconclusive.
        competitors: The published values of competing systems, which the paper calls better or
            worse. If the interval is too wide to tell a value from the nearest of them, see
            `NARROW`, the verdict is inconclusive.
    """
    if low is None or high is None or pd.isna(low):
        return INCONCLUSIVE
    if low <= published <= high:
        is_narrow = high - low < NARROW * paper_margin(published, competitors)
        return REPRODUCED if is_narrow else INCONCLUSIVE
    return HIGHER if low > published else LOWER


NO_RUN = "no run"  # begins the reason for a value whose cells are configured


def not_run(reason: str) -> dict:
    """Return the verdict and the reason of a value that we do not have."""
    return {"verdict": NOT_RUN, "reason": reason}


def no_run(*cells: Cell) -> str:
    """Return the reason for a value whose cells are configured but have no run."""
    return f"{NO_RUN} {', '.join(dict.fromkeys(cell.path for cell in cells))}"


# Sums of floats differ from those of fractions in their last digits.
_EQUAL = 1e-9
MOST_RUNS = 20


def runs_needed(published: float, step: float, measure: str, items: int) -> int | None:
    """Return the smallest number of runs whose mean can be printed as a value.

    A mean of reciprocal ranks, or of zeros and ones, over few items can only take certain values
    (the granularity test of Brown and Heathers 2017, "The GRIM test", Social Psychological and
    Personality Science 8). A printed value that is none of them is a mean of several runs, or over
    other items.

    A printed value may be rounded or cut off, so the mean is in [published - step / 2, published +
    step). Ranks have no upper limit.

    Args:
        published, step: The printed mean, and the unit of its last digit.
        measure: A key of `MEASURES`. Measures with many possible values are not checked.
        items: The number of items of a run.

    Returns: None if the measure is not checked, or if `MOST_RUNS` runs do not suffice.
    """
    values = MEASURES[measure].values
    if not values:
        return None
    low, high = published - step / 2, published + step - 2 * _EQUAL
    for runs in range(1, MOST_RUNS + 1):
        count = items * runs
        least, most = low * count - _EQUAL, high * count + _EQUAL
        if values == "binary":
            is_possible = max(ceil(least), 0) <= min(floor(most), count)
        else:
            is_possible = _can_sum_reciprocals(count, least, most, 1)
        if is_possible:
            return runs
    return None


def _can_sum_reciprocals(count: int, low: float, high: float, rank: int) -> bool:
    """Return whether the reciprocals of `count` ranks from `rank` on have a sum in [low, high]."""
    if low <= 0 < high:  # low ranks add next to nothing
        return True
    while count / rank >= low:  # and low > 0: all on the highest rank left are enough
        # As many as possible of this rank, then fewer.
        for times in range(min(count, floor(high * rank)), 0, -1):
            total = times / rank
            if _can_sum_reciprocals(count - times, low - total, high - total, rank + 1):
                return True
        rank += 1
    return False
