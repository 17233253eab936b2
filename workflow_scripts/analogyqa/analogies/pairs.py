"""A sentence pair of a relation, and how sentences are written: what all rules share."""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from spacy.tokens import Doc


class SentencePair(NamedTuple):
    """Two sentences that stand in a relation: where they are from, and by which rule.

    `varied` is the word that the rule is about, such as the adjective: of one word a set takes only
    so many pairs.
    """

    first: str
    second: str
    source: str
    rule: str
    varied: str = ""


# A masked word: a character that no word vectors have, so that to encoders of words it is one that
# they do not know. An encoder that has a mask of its own puts that in its place.
MASK = "\N{REPLACEMENT CHARACTER}"
_BEFORE_MARK = re.compile(r"\s+([.,;:!?%)]|'s\b|n't\b|'(?:re|ve|ll|d|m)\b)")
# Said with a vowel or a consonant against their first letter.
_VOWEL_SAID = ("hour", "honest", "honor", "honour", "heir", "x-ray")
_CONSONANT_SAID = ("one", "once", "uni", "use", "usu", "euro", "ewe", "uk", "utensil", "ukulele")
_NEGATED = ("unim", "unin", "uniden", "unimp")  # begin like uni-, but are un- and a vowel


def word_set(text: str) -> frozenset[str]:
    """Return the words of a list in the code."""
    return frozenset(text.split())


def join_words(words: Sequence[str]) -> str:
    """Return words as a sentence: marks without a space before, a capital first, an end."""
    text = _BEFORE_MARK.sub(r"\1", " ".join(filter(None, words)))
    return finish_sentence(text.replace(" - ", "-"))


def finish_sentence(text: str) -> str:
    """Return a text with single spaces, a capital first and a mark at its end."""
    text = re.sub(r"\bi\b", "I", " ".join(text.split()).strip())
    text = re.sub(r"\s*[,;:-]?\s*$", "", text)
    if text and text[-1] not in ".!?":
        text = re.sub(r"\s*([.!?])?(\s*[\"'])?$", "", text) + "."
    return text[:1].upper() + text[1:]


def replace_words(doc: "Doc", changes: Mapping[int, str]) -> str:
    """Return a sentence with some of its words otherwise, by their places; "" leaves one out.

    A word that begins the sentence loses its capital where another comes before it, and an article
    follows the word behind it.
    """
    words = [changes.get(token.i, token.text) for token in doc]
    parts = [part for word in words for part in word.split()]
    return join_words(with_articles(parts))


def with_articles(words: list[str]) -> list[str]:
    """Return words with a and an as the word behind each wants it."""
    fixed = list(words)
    for place in range(len(words) - 1):
        if words[place].lower() in ("a", "an"):
            article = article_before(words[place + 1])
            fixed[place] = article.capitalize() if words[place][0].isupper() else article
    return fixed


def article_before(word: str) -> str:
    """Return a or an, by how a word begins."""
    word = word.lower()
    if word.startswith(_VOWEL_SAID):
        return "an"
    if word.startswith(_CONSONANT_SAID) and not word.startswith(_NEGATED):
        return "a"
    return "an" if word[:1] in "aeiou" else "a"


def lower_first(token) -> str:
    """Return a word without the capital that it has as the first of a sentence."""
    keeps = token.i > 0 or token.text == "I" or token.pos_ == "PROPN"
    return token.text if keeps else token.text[:1].lower() + token.text[1:]
