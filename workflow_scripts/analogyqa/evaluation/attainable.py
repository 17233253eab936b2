"""Which printed means a number of runs can give.

A mean of reciprocal ranks, or of zeros and ones, over few items can only take certain values (the
granularity test of Brown and Heathers 2017, "The GRIM test", Social Psychological and Personality
Science 8). A printed value that is none of them is a mean of several runs, or over other items.
"""

from math import ceil, floor

from analogyqa.measures import MEASURES

# Sums of floats differ from those of fractions in their last digits.
_EQUAL = 1e-9
MOST_RUNS = 20


def runs_needed(published: float, step: float, measure: str, items: int) -> int | None:
    """Return the smallest number of runs whose mean can be printed as a value.

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
