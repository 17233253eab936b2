"""One interface to dependency labels of Universal Dependencies and of ClearNLP, and to inflection.

Rules use the labels of UD. spaCy's own English models use ClearNLP, where some structures differ
too: a copula is the head in ClearNLP, but depends on its adjective in UD.
"""

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spacy.tokens import Token


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
