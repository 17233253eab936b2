"""What the tables by level of norm share: the words of a panel, and words as text."""

from collections.abc import Iterable

from analogyqa.report.views.show import Panel

NONE = "-"  # as the paper prints a level without words


def norms_of_words(panel: Panel) -> dict[str, float]:
    """Return the words of a panel, without marks, with their norms."""
    words = panel.rows("word")
    pairs = zip(words["text"], words["norm"], strict=True)
    return {word: norm for word, norm in pairs if any(map(str.isalnum, word))}


def joined(words: Iterable[str]) -> str:
    return ", ".join(words) or NONE
