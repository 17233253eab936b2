"""Distractors differ from the right sentence and from one another."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analogyqa.analogies.distractors import CODED_MASK, draw_distractors, letters
from analogyqa.analogies.grammar import MASK
from analogyqa.analogies.specs import DISTRACTOR_STYLES
from analogyqa.text import tokenize
from builders.documents import UD, doc

RIGHT = "a man is playing chess"


def distractor(name: str, seed: int = 0, sentence: str = UD, style: str = "described") -> str:
    return DISTRACTOR_STYLES[style][name].load()(doc(sentence), np.random.default_rng(seed))


def test_not_negation_inserts_and_removes_not():
    assert distractor("not_negation") == "A man is not playing chess."
    negated = UD.replace("playing", "not/RB/PART/advmod/4 playing").replace("/3", "/4")
    assert distractor("not_negation", sentence=negated) == "A man is playing chess."
    plain = "He/PRP/PRON/nsubj/1 sleeps/VBZ/VERB/ROOT/1/sleep ././PUNCT/punct/1"
    assert distractor("not_negation", sentence=plain) == "He does not sleep."


@given(st.integers(0, 1000))
def test_random_distractors_delete_mask_or_move_words(seed):
    words = RIGHT.split()
    remaining = distractor("random_deletion", seed).rstrip(".").lower().split()
    assert {"a", "is"} <= {*remaining} < {*words}  # a determiner and an auxiliary are spared
    masked = distractor("random_masking", seed).rstrip(".").lower().split()
    assert len(masked) == len(words)
    assert 1 <= masked.count(MASK) <= len(words)
    assert {*masked} - {MASK} <= {*words}
    shortened = distractor("span_deletion", seed).rstrip(".").lower()
    kept = len(shortened.split())
    starts = range(len(words))
    assert any(" ".join(words[:at] + words[at + len(words) - kept :]) == shortened for at in starts)
    rotated = distractor("word_reordering", seed).rstrip(".").lower().split()
    assert rotated in [words[at:] + words[:at] for at in range(1, len(words))]


@given(st.integers(0, 1000))
def test_coded_distractors_work_on_all_tokens(seed):
    tokens = ["A", "man", "is", "playing", "chess", "."]
    spared, drawn = {"A", "is"}, {"man", "playing", "chess", "."}

    def coded(name):
        return distractor(name, seed, style="coded").split()

    remaining, masked = coded("random_deletion"), coded("random_masking")
    assert spared <= {*remaining}
    assert len(remaining) in (4, 5)  # two draws, with repetition
    assert [token for token in tokens if token in remaining] == remaining
    assert len(masked) == 6
    assert masked.count(CODED_MASK) in (1, 2)
    assert {*tokens} - {*masked} <= drawn
    kept = coded("span_deletion")
    gap = 6 - len(kept)
    assert gap in (1, 2, 3)
    assert kept in [tokens[:at] + tokens[at + gap :] for at in range(1, 7 - gap)]
    assert coded("word_reordering") in [tokens[at:] + tokens[:at] for at in range(1, 5)]


def test_averages_read_a_coded_mask_as_three_tokens():
    assert tokenize(f"A {CODED_MASK} sleeps") == ["a", "[", "mask", "]", "sleeps"]
    assert tokenize(f"A {MASK} sleeps") == ["a", MASK, "sleeps"]


@pytest.mark.parametrize("style", DISTRACTOR_STYLES)
@given(st.integers(0, 100))
def test_distractors_are_unique_and_reproducible(style, seed):
    distractors = draw_distractors(doc(UD), seed, style)
    assert len({letters(text) for text in [*distractors, RIGHT]}) == 6
    assert distractors == draw_distractors(doc(UD), seed, style)
    # They are drawn again when they are taken.
    again = draw_distractors(doc(UD), seed, style, {letters(distractors[-1])})
    assert again[:-1] == distractors[:-1]
    assert letters(again[-1]) != letters(distractors[-1])


def test_a_taken_not_negation_cannot_be_drawn_again():
    negated = "A man is not playing chess"
    assert draw_distractors(doc(UD), 0, taken={letters(negated)}) is None
    known = draw_distractors(doc(UD), 0, taken={letters(negated)}, not_negated="Chess plays a man")
    assert known[0] == "Chess plays a man"


def test_a_short_sentence_has_no_distractors():
    assert draw_distractors(doc("Sleep/VB/VERB/ROOT/0 ././PUNCT/punct/0"), 0) is None
