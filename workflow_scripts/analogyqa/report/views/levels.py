"""What the tables by level of norm share: the words of a panel, and words as text."""

from collections import Counter
from collections.abc import Iterable

from analogyqa.report.views.show import Panel

NONE = "-"  # as the paper prints a level without words


def is_word(token: str) -> bool:
    """Whether a token is a word or a number, and not a mark."""
    return any(character.isalnum() for character in token)


def norms_of_words(panel: Panel) -> dict[str, float]:
    """Return the words of a panel, without marks, with their norms."""
    words = panel.rows("word")
    pairs = zip(words["text"], words["norm"], strict=True)
    return {word: norm for word, norm in pairs if is_word(word)}


def counts_of_words(panel: Panel) -> Counter[str]:
    """Return how often each word is in the sentences of a panel, each sentence taken once."""
    sentences = panel.table[panel.table["kind"] != "word"].drop_duplicates("text")
    return Counter(word for words in sentences["words"] for word in words)


def joined(words: Iterable[str]) -> str:
    return ", ".join(words) or NONE
