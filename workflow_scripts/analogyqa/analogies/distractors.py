"""Wrong answers that resemble the correct one (Zhu and de Melo 2020, section 3.2.2).

Each function takes the parsed correct answer and a random generator, and returns a sentence, or
None when it does not apply.
"""

import zlib
from typing import TYPE_CHECKING

import numpy as np

from analogyqa.analogies.grammar import MASK, SUPPORT, join_words, lemmatise, lower_first
from analogyqa.analogies.specs import DISTRACTORS

if TYPE_CHECKING:
    from spacy.tokens import Doc

SHARE = 0.2  # probability that a word is deleted or masked
SPAN = 3  # mean length of a deleted span, in words
_KEPT = ("ADJ", "ADV", "DET", "AUX", "PUNCT")  # parts of speech that random deletion keeps
_MAX_DRAWS = 20


def draw_distractors(doc: "Doc", seed: int) -> list[str] | None:
    """Return one distractor of each kind, in the order of `DISTRACTORS`.

    They differ from each other and from the correct answer; None if that is not possible. The
    result depends on the seed and the sentence only.
    """
    random = np.random.default_rng([seed, zlib.crc32(doc.text.encode())])
    distractors: dict[str, str] = {_simplify(doc.text): ""}
    for entry in DISTRACTORS.values():
        make = entry.load()
        draws = (make(doc, random) for _ in range(_MAX_DRAWS))
        new = next((text for text in draws if text and _simplify(text) not in distractors), None)
        if new is None:
            return None
        distractors[_simplify(new)] = new
    return list(distractors.values())[1:]


def not_negation(doc: "Doc", random: np.random.Generator) -> str | None:
    """Remove "not", or insert it after the first auxiliary, adding "do" if there is none."""
    words = _words(doc)
    negation = next((token for token in doc if token.lower_ in ("not", "n't")), None)
    auxiliary = next((token for token in doc if token.pos_ == "AUX" or token.tag_ == "MD"), None)
    verb = next((token for token in doc if token.tag_ in SUPPORT and token.pos_ == "VERB"), None)
    if negation is not None:
        words[negation.i] = ""
    elif auxiliary is not None:
        words[auxiliary.i] += " not"
    elif verb is not None and (lemma := lemmatise(verb.lower_, "VERB")):
        words[verb.i] = f"{SUPPORT[verb.tag_]} not {lemma}"
    else:
        return None
    return join_words(words)


def random_deletion(doc: "Doc", random: np.random.Generator) -> str | None:
    """Delete at least one word, each with probability SHARE, but keep some parts of speech."""
    deletable = [token.i for token in doc if token.pos_ not in _KEPT]
    return _delete(doc, _draw_positions(deletable, random)) if deletable else None


def random_masking(doc: "Doc", random: np.random.Generator) -> str | None:
    """Mask at least one word, each with probability SHARE."""
    masked = _draw_positions(_word_positions(doc), random)
    return join_words([MASK if i in masked else word for i, word in enumerate(_words(doc))])


def span_deletion(doc: "Doc", random: np.random.Generator) -> str | None:
    """Delete a span whose length follows a Poisson distribution, but never all words."""
    positions = _word_positions(doc)
    if len(positions) < 2:
        return None
    length = int(np.clip(random.poisson(SPAN), 1, len(positions) - 1))
    start = int(random.integers(len(positions) - length + 1))
    return _delete(doc, set(positions[start : start + length]))


def word_reordering(doc: "Doc", random: np.random.Generator) -> str | None:
    """Swap the words before a random position with those after it; final punctuation stays."""
    positions = _word_positions(doc)
    if len(positions) < 2:
        return None
    words = _words(doc)
    pivot = int(random.integers(1, len(positions)))
    rotated = [*positions[pivot:], *positions[:pivot], *range(len(positions), len(doc))]
    return join_words([words[i] for i in rotated])


def _word_positions(doc: "Doc") -> list[int]:
    """Return the positions of the words, without final punctuation."""
    return list(range(len(doc) - 1 if doc[-1].is_punct else len(doc)))


def _words(doc: "Doc") -> list[str]:
    return [lower_first(token) for token in doc]


def _draw_positions(positions: list[int], random: np.random.Generator) -> set[int]:
    numbers = random.random(len(positions))
    drawn = {i for i, number in zip(positions, numbers, strict=True) if number < SHARE}
    return drawn or {int(random.choice(positions))}


def _delete(doc: "Doc", positions: set[int]) -> str | None:
    words = [word for i, word in enumerate(_words(doc)) if i not in positions]
    return join_words(words) if any(word.isalnum() for word in words) else None


def _simplify(sentence: str) -> str:
    return " ".join(sentence.lower().rstrip(".!? ").split())
