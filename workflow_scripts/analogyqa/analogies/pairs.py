"""The sentence pair that rules produce, and functions that write out sentences."""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from spacy.tokens import Doc


class SentencePair(NamedTuple):
    """Two related sentences, their source file and the rule that made them.

    `varied` is the word that the rule changes, such as the adjective. The number of pairs with the
    same varied word is limited. `words` is the number of the pair of words that fills a template;
    0 for sentences that no template made.
    """

    first: str
    second: str
    source: str
    rule: str
    varied: str = ""
    words: int = 0


# A masked word. No word vectors have this character, so it is an unknown word; encoders with a mask
# token replace it by theirs.
MASK = "\N{REPLACEMENT CHARACTER}"
_BEFORE_MARK = re.compile(r"\s+([.,;:!?%)]|'s\b|n't\b|'(?:re|ve|ll|d|m)\b)")
# Words whose first letter does not tell whether they are pronounced with a vowel.
_VOWEL_SOUND = ("hour", "honest", "honor", "honour", "heir", "x-ray")
_CONSONANT_SOUND = ("one", "once", "uni", "use", "usu", "euro", "ewe", "uk", "utensil")
_NEGATED = ("unim", "unin", "uniden")  # un- before a vowel, not uni-


def word_set(text: str) -> frozenset[str]:
    """Return the words in a string literal."""
    return frozenset(text.split())


def join_words(words: Sequence[str]) -> str:
    """Join words into a sentence, with a capital, a final mark and correct spaces."""
    text = _BEFORE_MARK.sub(r"\1", " ".join(filter(None, words)))
    return finish_sentence(text.replace(" - ", "-"))


def finish_sentence(text: str) -> str:
    """Normalise a sentence: single spaces, a capital at the start and a mark at the end."""
    text = re.sub(r"\bi\b", "I", " ".join(text.split()))
    text = re.sub(r"\s*[,;:-]?\s*$", "", text)
    if text and text[-1] not in ".!?":
        text = re.sub(r"\s*([.!?])?(\s*[\"'])?$", "", text) + "."
    return text[:1].upper() + text[1:]


def replace_words(doc: "Doc", changes: Mapping[int, str]) -> str:
    """Replace or delete words of a sentence, and correct its articles.

    Args:
        doc: the parsed sentence.
        changes: new text at each position; "" deletes the word.
    """
    words = [changes.get(token.i, token.text) for token in doc]
    parts = [part for word in words for part in word.split()]
    return join_words(with_articles(parts))


def with_articles(words: list[str]) -> list[str]:
    """Replace "a" and "an" where the next word requires the other."""
    corrected = list(words)
    for position, (word, following) in enumerate(pairwise(words)):
        if word.lower() in ("a", "an"):
            article = article_before(following)
            corrected[position] = article.capitalize() if word[0].isupper() else article
    return corrected


def article_before(word: str) -> str:
    """Return the indefinite article for a word, by its first sound."""
    word = word.lower()
    if word.startswith(_VOWEL_SOUND):
        return "an"
    if word.startswith(_CONSONANT_SOUND) and not word.startswith(_NEGATED):
        return "a"
    return "an" if word[:1] in "aeiou" else "a"


def lower_first(token) -> str:
    """Return a word without the capital of a sentence's first word."""
    keeps_case = token.i > 0 or token.text == "I" or token.pos_ == "PROPN"
    return token.text if keeps_case else token.text[:1].lower() + token.text[1:]
