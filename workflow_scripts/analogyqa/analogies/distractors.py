"""Wrong answers that look like the right one (Zhu and de Melo 2020, section 3.2.2).

Each takes the parsed right answer and a generator of random numbers, and returns a sentence; or
None where the right answer gives none.
"""

import zlib
from typing import TYPE_CHECKING

import numpy as np

from analogyqa.analogies.inflection import lemmatise
from analogyqa.analogies.pairs import MASK, join_words, lower_first
from analogyqa.analogies.specs import DISTRACTORS

if TYPE_CHECKING:
    from spacy.tokens import Doc

SHARE = 0.2  # of the words that are deleted or masked
SPAN = 3  # the mean of the Poisson distribution of a span's length
_KEPT = ("ADJ", "ADV", "DET", "AUX", "PUNCT")  # what random deletion spares
_DRAWS = 20
_SUPPORT = {"VBZ": "does", "VBP": "do", "VBD": "did"}
_NOT = ("not", "n't")


def distractors_of(doc: "Doc", seed: int) -> list[str] | None:
    """Return the distractors of a right answer in the order of `DISTRACTORS`.

    No two are the same, and none is the right answer; None where that cannot be had. The draws
    depend on the seed and the sentence alone.
    """
    random = np.random.default_rng([seed, zlib.crc32(doc.text.encode())])
    taken = [_plain(doc.text)]
    found = []
    for entry in DISTRACTORS.values():
        make = entry.load()
        drawn = (make(doc, random) for _ in range(_DRAWS))
        other = next((each for each in drawn if each and _plain(each) not in taken), None)
        if other is None:
            return None
        taken.append(_plain(other))
        found.append(other)
    return found


def not_negation(doc: "Doc", random: np.random.Generator) -> str | None:
    """Insert not after the first auxiliary, or take it out; do supports a verb without one."""
    words = _words(doc)
    places = [token.i for token in doc if token.lower_ in _NOT]
    if places:
        return join_words([word for i, word in enumerate(words) if i != places[0]])
    auxiliary = next((token for token in doc if token.pos_ == "AUX" or token.tag_ == "MD"), None)
    if auxiliary is not None:
        words[auxiliary.i] += " not"
        return join_words(words)
    verb = next((token for token in doc if token.tag_ in _SUPPORT and token.pos_ == "VERB"), None)
    lemma = verb is not None and lemmatise(verb.lower_, "VERB")
    if not lemma:
        return None
    words[verb.i] = f"{_SUPPORT[verb.tag_]} not {lemma}"
    return join_words(words)


def random_deletion(doc: "Doc", random: np.random.Generator) -> str | None:
    """Delete each word with a chance of `SHARE`, at least one; some parts of speech are spared."""
    may_go = [token.i for token in doc if token.pos_ not in _KEPT]
    return _without(doc, _drawn(may_go, random)) if may_go else None


def random_masking(doc: "Doc", random: np.random.Generator) -> str | None:
    """Mask each word with a chance of `SHARE`, at least one."""
    masked = _drawn(_inside(doc), random)
    words = [MASK if i in masked else word for i, word in enumerate(_words(doc))]
    return join_words(words)


def span_deletion(doc: "Doc", random: np.random.Generator) -> str | None:
    """Delete a span whose length is drawn from a Poisson distribution; something always stays."""
    inside = _inside(doc)
    if len(inside) < 2:
        return None
    length = int(np.clip(random.poisson(SPAN), 1, len(inside) - 1))
    start = int(random.integers(len(inside) - length + 1))
    return _without(doc, set(inside[start : start + length]))


def word_reordering(doc: "Doc", random: np.random.Generator) -> str | None:
    """Swap what stands before a random word with what begins there; the last mark stays last."""
    inside = _inside(doc)
    if len(inside) < 2:
        return None
    words = _words(doc)
    pivot = int(random.integers(1, len(inside)))
    moved = [*inside[pivot:], *inside[:pivot]]
    rest = [token.i for token in doc if token.i not in set(inside)]
    return join_words([words[i] for i in (*moved, *rest)])


def _inside(doc: "Doc") -> list[int]:
    """Return the places of the words; a mark at the end is none."""
    last = len(doc) - 1 if doc[-1].is_punct else len(doc)
    return list(range(last))


def _words(doc: "Doc") -> list[str]:
    return [lower_first(token) for token in doc]


def _drawn(places: list[int], random: np.random.Generator) -> set[int]:
    chosen = {place for place, chance in zip(places, random.random(len(places)), strict=True)
              if chance < SHARE}  # fmt: skip
    return chosen or {int(random.choice(places))}


def _without(doc: "Doc", places: set[int]) -> str | None:
    words = [word for i, word in enumerate(_words(doc)) if i not in places]
    return join_words(words) if any(word.isalnum() for word in words) else None


def _plain(sentence: str) -> str:
    return " ".join(sentence.lower().rstrip(".!? ").split())
