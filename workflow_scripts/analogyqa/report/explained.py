"""An explanation in words, for the terminal, the picture and the page."""

from collections.abc import Iterator
from string import ascii_uppercase

import pandas as pd

from analogyqa.schemas import Candidate, Explanation, Shifts, WordShares

SHOWN = 5  # candidates that a picture explains, besides the best correct one
WORDS = 4  # of a sentence
JOINED = "A line joins a candidate to the prototype that gives it its score."
SEVERAL = "No single prototype decides: each score depends on several."
EXAMPLES = 10  # the clearest correct answers, and as many incorrect ones
LABELS = {1: "correct", 0: "wrong", None: ""}


def shown_candidates(explanation: Explanation) -> list[tuple[int, Candidate, str]]:
    """Return the first candidates and the best correct one, each with its place, from 1.

    The prototypes that decide them have the letters A, B, ... in this order; "" if none decides.
    """
    ranked = list(enumerate(explanation.candidates, 1))
    selected = ranked[:SHOWN]
    if not any(candidate.label == 1 for _, candidate in selected):
        selected += [pair for pair in ranked[SHOWN:] if pair[1].label == 1][:1]
    deciding = dict.fromkeys(candidate.decided_by for _, candidate in selected)
    letters = dict(zip(filter(lambda at: at is not None, deciding), ascii_uppercase, strict=False))
    return [(place, shown, letters.get(shown.decided_by, "")) for place, shown in selected]


def lettered_prototypes(explanation: Explanation) -> dict[str, int]:
    """Return the letters of the prototypes that decide the shown candidates, with their numbers."""
    shown = shown_candidates(explanation)
    return {letter: best.decided_by for _, best, letter in shown if best.decided_by is not None}


def word_text(words: WordShares) -> str:
    """Return the words that won most, without marks, such as "wrote 34%, Ada 22%"."""
    shares = [pair for pair in words if any(map(str.isalnum, pair[0]))]
    return ", ".join(f"{word} {share:.0%}" for word, share in shares[:WORDS])


def clearest_decisions(decisions: pd.DataFrame) -> pd.DataFrame:
    """Return the clearest answers of the first seed, correct and incorrect, from DECISIONS."""
    first = decisions[decisions["seed"] == decisions["seed"].min()].dropna(subset="margin")
    in_order = first.sort_values(["margin", "question_id"], ascending=[False, True])
    correct, incorrect = (in_order[in_order["label"] == label] for label in (1, 0))
    clearest = {"correctly": correct.head(EXAMPLES), "incorrectly": incorrect.tail(EXAMPLES)[::-1]}
    return pd.concat(clearest, names=["answered"]).reset_index("answered")


def margin(explanation: Explanation) -> float:
    """Return the best score of a correct candidate minus that of a wrong one."""
    best = {candidate.label: candidate.score for candidate in reversed(explanation.candidates)}
    return best[1] - best[0]


def is_decided(explanation: Explanation) -> bool:
    """Return whether single prototypes give candidates their scores."""
    return any(candidate.decided_by is not None for candidate in explanation.candidates)


def terminal_lines(explanation: Explanation) -> Iterator[str]:
    """Yield the lines that `analogyqa explain` and `analogyqa rank --explain` print."""
    yield explanation.question
    if explanation.words:
        yield f"     words: {word_text(explanation.words)}"
    for place, candidate in enumerate(explanation.candidates, 1):
        parts = f"{place:3}", f"{candidate.score:.4f}", LABELS[candidate.label], candidate.candidate
        yield "  ".join(filter(None, parts))
        if candidate.unknown:
            yield f"     ignored, as they have no vector: {candidate.unknown}"
        if candidate.words:
            yield f"     words: {word_text(candidate.words)}"
        if candidate.matches:
            matches = (f"{word}: {match} {cosine:.2f}" for word, match, cosine in candidate.matches)
            yield f"     most similar words: {', '.join(matches)}"
        for number, similarity in candidate.nearest:
            like = explanation.prototypes[number]
            yield f"     like {similarity:.4f}  {like.question}  {like.answer}"
    yield ""
    if not explanation.prototypes:
        yield "This system does not compare with prototypes."
    elif not is_decided(explanation):
        yield SEVERAL
    yield from word_notes(explanation)


def picture_notes(explanation: Explanation, shifts: Shifts) -> Iterator[str]:
    """Yield how to read the picture of shifts, and what it cannot show."""
    count, lost = len(shifts.candidates + shifts.prototypes), 1 - sum(shifts.shares)
    yield (
        f"A mark is a question minus an answer. Two dimensions lose {lost:.0%} of the variance of "
        f"these {count} vectors, so marks may look closer than they are."
    )
    yield JOINED if is_decided(explanation) else SEVERAL
    yield from word_notes(explanation)


def word_notes(explanation: Explanation) -> Iterator[str]:
    """Yield what the words of an explanation mean, or why there are none."""
    if explanation.words:
        yield (
            "Words: the share of the dimensions in which a word wins the maximum over its "
            "sentence. What wins also depends on the words around it."
        )
    elif not any(candidate.matches for candidate in explanation.candidates):
        yield "No words decide: this system takes no maximum over words."
