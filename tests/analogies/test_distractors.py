"""Distractors: each is another sentence than the right one."""

import numpy as np
from analogies.documents import UD, doc
from hypothesis import given
from hypothesis import strategies as st

from analogyqa.analogies.distractors import distractors_of
from analogyqa.analogies.pairs import MASK
from analogyqa.analogies.specs import DISTRACTORS

RIGHT = "a man is playing chess"


def made(name: str, seed: int = 0, sentence: str = UD) -> str:
    return DISTRACTORS[name].load()(doc(sentence), np.random.default_rng(seed))


def test_not_negation_inserts_and_removes_not():
    assert made("not_negation") == "A man is not playing chess."
    negated = UD.replace("playing", "not/RB/PART/advmod/4 playing").replace("/3", "/4")
    assert made("not_negation", sentence=negated) == "A man is playing chess."
    plain = "He/PRP/PRON/nsubj/1 sleeps/VBZ/VERB/ROOT/1/sleep ././PUNCT/punct/1"
    assert made("not_negation", sentence=plain) == "He does not sleep."


@given(st.integers(0, 1000))
def test_random_distractors_change_words_as_described(seed):
    words = RIGHT.split()
    left = made("random_deletion", seed).rstrip(".").lower().split()
    assert {"a", "is"} <= {*left} < {*words}  # a determiner and an auxiliary are spared
    masked = made("random_masking", seed).rstrip(".").lower().split()
    assert len(masked) == len(words)
    assert 1 <= masked.count(MASK) <= len(words)
    assert {*masked} - {MASK} <= {*words}
    span = made("span_deletion", seed).rstrip(".").lower()
    kept = len(span.split())
    starts = range(len(words))
    assert any(" ".join(words[:at] + words[at + len(words) - kept :]) == span for at in starts)
    moved = made("word_reordering", seed).rstrip(".").lower().split()
    assert moved in [words[at:] + words[:at] for at in range(1, len(words))]


@given(st.integers(0, 100))
def test_distractors_are_unique_and_reproducible(seed):
    found = distractors_of(doc(UD), seed)
    assert len({text.lower() for text in [*found, RIGHT + "."]}) == 6
    assert found == distractors_of(doc(UD), seed)


def test_a_short_sentence_has_no_distractors():
    assert distractors_of(doc("Sleep/VB/VERB/ROOT/0 ././PUNCT/punct/0"), 0) is None
