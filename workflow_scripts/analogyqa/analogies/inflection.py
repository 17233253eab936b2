"""Forms of words, by lemminflect."""

from functools import cache


@cache
def inflected(lemma: str, tag: str) -> str | None:
    """Return the form of a lemma that has a Penn tag, None where none is known."""
    from lemminflect import getInflection

    return next(iter(getInflection(lemma, tag, inflect_oov=False)), None)


@cache
def lemmatise(word: str, pos: str) -> str | None:
    """Return the lemma of a word of a universal part of speech, None where none is known."""
    from lemminflect import getLemma

    return next(iter(getLemma(word, pos, lemmatize_oov=False)), None)


def is_form(word: str, lemma: str, tag: str) -> bool:
    """Return whether a word is a form of a lemma that has a Penn tag."""
    from lemminflect import getInflection

    return word in getInflection(lemma, tag, inflect_oov=False)
