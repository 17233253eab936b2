"""Fixtures of the report tests."""

from functools import partial

import pytest

from analogyqa.report import comparing


@pytest.fixture
def fewer_permutations(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let comparisons draw 1,000 permutations instead of 10,000, which is faster."""
    fewer = partial(comparing.compare_paired, samples=1000)
    monkeypatch.setattr(comparing, "compare_paired", fewer)
