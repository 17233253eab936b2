"""Inflect and lemmatise words with lemminflect."""

from functools import cache


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
