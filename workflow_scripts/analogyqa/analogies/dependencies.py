"""Dependency labels of Universal Dependencies and of ClearNLP (spaCy's own English models) as one.

The rules ask for UD's names. Where the schemes differ in more than names (a copula is the head in
ClearNLP, and a mark of its adjective in UD) a function asks for both.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spacy.tokens import Token

# ClearNLP's name to UD's. Subtypes such as aux:pass keep their place behind the colon.
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
_NEGATIONS = {"not", "n't", "never", "no", "nobody", "nothing", "neither", "nor", "none", "hardly"}


def label(token: "Token") -> str:
    """Return the UD label of a word."""
    return _AS_IN_UD.get(token.dep_, token.dep_)


def base_label(token: "Token") -> str:
    """Return the UD label of a word without its subtype."""
    return label(token).partition(":")[0]


def children(token: "Token", *labels: str) -> "Iterator[Token]":
    """Yield the words under a word that have one of some labels, with or without a subtype."""
    return (child for child in token.children if {label(child), base_label(child)} & {*labels})


def child(token: "Token", *labels: str) -> "Token | None":
    return next(children(token, *labels), None)


def find_copula(adjective: "Token") -> "Token | None":
    """Return the form of to be that an adjective is the predicate of."""
    if adjective.dep_ in ("acomp", "attr") and adjective.head.lemma_ == "be":
        return adjective.head
    return child(adjective, "cop")


def find_subject(verb: "Token") -> "Token | None":
    """Return the subject of a verb, or of an adjective that has a copula; no passive's."""
    return next((each for each in children(verb, "nsubj") if label(each) != "nsubj:pass"), None)


def auxiliaries(verb: "Token") -> "list[Token]":
    return list(children(verb, "aux"))


def is_negated(doc) -> bool:
    """Return whether a sentence holds a negation anywhere."""
    return any(token.lower_ in _NEGATIONS for token in doc)


def is_plural(noun: "Token") -> bool:
    """Return whether what a noun heads is plural: by form, or several that are joined."""
    if child(noun, "conj") is not None or noun.lower_ in ("they", "we", "you", "people", "both"):
        return True
    if noun.lower_ == "i":
        return True
    return noun.tag_ in ("NNS", "NNPS") or "Plur" in noun.morph.get("Number")


def contiguous_subtree(token: "Token") -> "list[Token]":
    """Return the words under a word and itself; [] where they do not stand together."""
    words = list(token.subtree)
    return words if words[-1].i - words[0].i + 1 == len(words) else []
