"""Patterns of wildcards, and needs that grow."""

import re
from collections.abc import Callable, Iterable

from analogyqa.settings.base import AT


def one_of(names: Iterable[str]) -> str:
    """Return the pattern of one of some names; of none it matches nothing."""
    return "|".join(map(re.escape, sorted(names))) or "(?!)"


def with_overrides(names: Iterable[str]) -> str:
    """Return the pattern of one of some names with overrides behind it, if any."""
    return f"({one_of(names)})({AT}[^/]+)?"


def growing(first: int) -> Callable:
    """Return a need (MB, minutes) that doubles when a cluster cut the job off."""
    return lambda wildcards, attempt: first * 2 ** (attempt - 1)
