"""Patterns of wildcards, and resources that grow with each attempt."""

import re
from collections.abc import Callable, Iterable

from analogyqa.settings.base import AT


def one_of(names: Iterable[str]) -> str:
    """Return a regular expression for one of some names; it matches nothing if there are none."""
    return "|".join(map(re.escape, sorted(names))) or "(?!)"


def with_overrides(names: Iterable[str]) -> str:
    """Return a regular expression for one of some names, optionally followed by overrides."""
    return f"({one_of(names)})({AT}[^/]+)?"


def growing(first: int) -> Callable:
    """Return a resource (MB or minutes) that doubles each time a cluster kills the job."""
    return lambda wildcards, attempt: first * 2 ** (attempt - 1)
