"""The grammar of parsed sentences, the inflection of words, and the spelling of sentences.

Rules use the dependency labels of Universal Dependencies. spaCy's own English models use ClearNLP,
where some structures differ too: a copula is the head in ClearNLP, but depends on its adjective in
UD.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token


# UD label of each ClearNLP label. A subtype follows the colon.
_AS_IN_UD = {
    "dobj": "obj",
    "nsubjpass": "nsubj:pass",
    "csubjpass": "csubj:pass",
    "auxpass": "aux:pass",
    "relcl": "acl:relcl",
    "pobj": "obl",
    "neg": "advmod:neg",
    "poss": "nmod:poss",
    "prt": "compound:prt",
    "nn": "compound",
}
FINITE = {"VBZ", "VBP", "VBD", "MD"}  # tags of finite verbs
SUPPORT = {"VBZ": "does", "VBP": "do", "VBD": "did"}  # the form of "do" for each tag
# A masked word. No word vectors have this character, so it is an unknown word; encoders with a mask
# token replace it by theirs.
MASK = "\N{REPLACEMENT CHARACTER}"
_BEFORE_MARK = re.compile(r"\s+([.,;:!?%)]|'s\b|n't\b|'(?:re|ve|ll|d|m)\b)")
# Words whose first letter does not tell whether they are pronounced with a vowel.
_VOWEL_SOUND = ("hour", "honest", "honor", "honour", "heir", "x-ray")
_CONSONANT_SOUND = ("one", "once", "uni", "use", "usu", "euro", "ewe", "uk", "utensil")
_NEGATED = ("unim", "unin", "uniden")  # un- before a vowel, not uni-
_NEGATIONS = {"not", "n't", "never", "no", "nobody", "nothing", "neither", "nor", "none", "hardly"}


def label(token: "Token") -> str:
    """Return the UD label of a word."""
    return _AS_IN_UD.get(token.dep_, token.dep_)


def base_label(token: "Token") -> str:
    """Return the UD label of a word, without a subtype."""
    return label(token).partition(":")[0]


def children(token: "Token", *labels: str) -> "Iterator[Token]":
    """Return the children of a word that have one of the labels, with or without a subtype."""
    return (child for child in token.children if {label(child), base_label(child)} & {*labels})


def child(token: "Token", *labels: str) -> "Token | None":
    """Return the first child of a word that has one of the labels."""
    return next(children(token, *labels), None)


def find_copula(adjective: "Token") -> "Token | None":
    """Return the form of "be" that links a subject to this adjective."""
    if adjective.dep_ in ("acomp", "attr") and adjective.head.lemma_ == "be":
        return adjective.head
    return child(adjective, "cop")


def find_subject(verb: "Token") -> "Token | None":
    """Return the active subject of a verb, or of an adjective with a copula."""
    subjects = children(verb, "nsubj")
    return next((token for token in subjects if label(token) != "nsubj:pass"), None)


def is_negated(doc) -> bool:
    """Return whether a sentence contains a negation."""
    return any(token.lower_ in _NEGATIONS for token in doc)


def is_plural(noun: "Token") -> bool:
    """Return whether a noun phrase is plural, by its form or by coordination."""
    plural = ("i", "they", "we", "you", "people", "both")  # "I" takes the verb form of a plural
    if child(noun, "conj") is not None or noun.lower_ in plural:
        return True
    return noun.tag_ in ("NNS", "NNPS") or "Plur" in noun.morph.get("Number", [])


@cache
def inflected(lemma: str, tag: str) -> str | None:
    """Return the form of a lemma with a Penn tag, or None if none is known."""
    from lemminflect import getInflection

    return next(iter(getInflection(lemma, tag, inflect_oov=False)), None)


@cache
def lemmatise(word: str, pos: str) -> str | None:
    """Return the lemma of a word with a universal part of speech, or None if none is known."""
    from lemminflect import getLemma

    return next(iter(getLemma(word, pos, lemmatize_oov=False)), None)


def is_form(word: str, lemma: str, tag: str) -> bool:
    """Return whether a word is the form of a lemma with a Penn tag."""
    from lemminflect import getInflection

    return word in getInflection(lemma, tag, inflect_oov=False)


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
