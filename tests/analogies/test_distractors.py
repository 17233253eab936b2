"""Distractors differ from the right sentence and from one another."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from analogyqa.analogies.distractors import draw_distractors
from analogyqa.analogies.grammar import MASK
from analogyqa.analogies.specs import DISTRACTORS
from builders.documents import UD, doc

RIGHT = "a man is playing chess"


def distractor(name: str, seed: int = 0, sentence: str = UD) -> str:
    return DISTRACTORS[name].load()(doc(sentence), np.random.default_rng(seed))


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


@given(st.integers(0, 100))
def test_distractors_are_unique_and_reproducible(seed):
    distractors = draw_distractors(doc(UD), seed)
    assert len({text.lower() for text in [*distractors, RIGHT + "."]}) == 6
    assert distractors == draw_distractors(doc(UD), seed)


def test_a_short_sentence_has_no_distractors():
    assert draw_distractors(doc("Sleep/VB/VERB/ROOT/0 ././PUNCT/punct/0"), 0) is None
