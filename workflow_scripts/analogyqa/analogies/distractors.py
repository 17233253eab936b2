"""Wrong answers that resemble the correct one (Zhu and de Melo 2020, section 3.2.2).

Each function takes the parsed correct answer and a random generator, and returns a sentence, or
None when it does not apply. Those with `coded` follow the authors' code where it differs from their
text (`generate_negative_candidates`): it works on all tokens, and leaves spaces between them and
capitals where they are.
"""

import math
import zlib
from collections.abc import Container, Iterable
from typing import TYPE_CHECKING

import numpy as np

from analogyqa.analogies.grammar import MASK, SUPPORT, join_words, lemmatise, lower_first
from analogyqa.analogies.specs import DISTRACTOR_STYLES

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span

SHARE = 0.2  # probability that a word is deleted or masked
SPAN = 3  # mean length of a deleted span, in words
_KEPT = ("ADJ", "ADV", "DET", "AUX", "PUNCT")  # parts of speech that random deletion keeps
CODED_SHARE = 0.25  # of the tokens, how many are drawn for deletion or masking as coded
CODED_SPAN = 0.25  # parameter of the geometric distribution of the lengths of coded spans
# A coded mask. Tokenisers of words split it into three tokens; those of BERT know it.
CODED_MASK = "[MASK]"
_MAX_DRAWS = 20


def draw_distractors(
    doc: "Doc",
    seed: int,
    style: str = "described",
    taken: Container[str] = (),
    not_negated: str = "",
) -> list[str] | None:
    """Return one distractor of each kind, in the order of `DISTRACTORS`.

    They differ from each other and from the correct answer; None if that is not possible. The
    result depends on the sentence and the arguments only.

    Args:
        doc: the parsed correct answer.
        seed: the seed of random distractors, with the sentence.
        style: a key of `DISTRACTOR_STYLES`.
        taken: the `letters` of sentences that are no distractors.
        not_negated: the distractor "not negation", if it is known.
    """
    random = np.random.default_rng([seed, zlib.crc32(doc.text.encode())])
    distractors: dict[str, str] = {letters(doc.text): ""}
    for name, entry in DISTRACTOR_STYLES[style].items():
        make = entry.load()
        draws: Iterable[str | None] = (make(doc, random) for _ in range(_MAX_DRAWS))
        if name == "not_negation" and not_negated:
            draws = [not_negated]
        for text in filter(None, draws):
            if letters(text) not in distractors and letters(text) not in taken:
                distractors[letters(text)] = text
                break
        else:
            return None
    return list(distractors.values())[1:]


def letters(sentence: str) -> str:
    """Return the letters, digits and masks of a sentence, in lower case, to compare sentences."""
    return "".join(char for char in sentence.lower() if char.isalnum() or char == MASK)


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


def coded_deletion(doc: "Doc", random: np.random.Generator) -> str | None:
    """Delete the tokens that `_draw_coded` draws."""
    drawn = _draw_coded(doc, random)
    return " ".join(token.text for token in doc if token.i not in drawn)


def coded_masking(doc: "Doc", random: np.random.Generator) -> str | None:
    """Mask the tokens that `_draw_coded` draws. The text does not spare any from masking."""
    drawn = _draw_coded(doc, random)
    return " ".join(CODED_MASK if token.i in drawn else token.text for token in doc)


def coded_span_deletion(doc: "Doc", random: np.random.Generator) -> str | None:
    """Delete one to four successive tokens, but never the first.

    The code draws spans of two to five tokens, and of no more than half of the sentence and one,
    and keeps the first token of a span.
    """
    most = min(len(doc) // 2 + 1, 5)
    if most < 2:
        return None
    length = 0
    while not 2 <= length <= most:
        length = int(random.geometric(CODED_SPAN))
    start = int(random.integers(len(doc) - length + 1))
    return _joined(doc[: start + 1], doc[start + length :])


def coded_reordering(doc: "Doc", random: np.random.Generator) -> str | None:
    """Swap the tokens before a random position with those after it, also final punctuation."""
    if len(doc) < 3:
        return None
    pivot = int(random.integers(1, len(doc) - 1))
    return _joined(doc[pivot:], doc[:pivot])


def _word_positions(doc: "Doc") -> list[int]:
    """Return the positions of the words, without final punctuation."""
    return list(range(len(doc) - 1 if doc[-1].is_punct else len(doc)))


def _words(doc: "Doc") -> list[str]:
    return [lower_first(token) for token in doc]


def _draw_positions(positions: list[int], random: np.random.Generator) -> set[int]:
    numbers = random.random(len(positions))
    drawn = {i for i, number in zip(positions, numbers, strict=True) if number < SHARE}
    return drawn or {int(random.choice(positions))}


def _draw_coded(doc: "Doc", random: np.random.Generator) -> set[int]:
    """Draw the positions of a quarter of the tokens, rounded up, with repetitions.

    A token that the text spares is drawn again, at most 20 times.
    """
    drawn = set()
    for position in random.integers(len(doc), size=math.ceil(CODED_SHARE * len(doc))):
        for _ in range(_MAX_DRAWS + 1):
            token = doc[int(position)]
            if token.pos_ not in ("ADJ", "ADV") and token.dep_ not in ("aux", "det"):
                break
            position = random.integers(len(doc))
        drawn.add(int(position))
    return drawn


def _joined(*spans: "Span") -> str:
    return " ".join(token.text for span in spans for token in span)


def _delete(doc: "Doc", positions: set[int]) -> str | None:
    words = [word for i, word in enumerate(_words(doc)) if i not in positions]
    return join_words(words) if any(word.isalnum() for word in words) else None
