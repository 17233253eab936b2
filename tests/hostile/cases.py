"""Parameters: the fast suite tries a few of them, the suite `slow` all."""

from itertools import product

import pytest


def mark_most_slow(*lists: list) -> list:
    """Return all combinations, marked slow if they differ from the first in several values."""
    return [
        pytest.param(
            *(values[index] for values, index in zip(lists, indices, strict=True)),
            marks=[pytest.mark.slow] if sum(map(bool, indices)) > 1 else [],
        )
        for indices in product(*map(range, map(len, lists)))
    ]
