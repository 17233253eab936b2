"""Soft alignment of the words of a question with the words of a candidate."""

import numpy as np
import pytest

from analogyqa.rankers import Vocabulary, Words
from analogyqa.rankers.baselines import AlignedRanker

GENERATOR = np.random.default_rng(0)
VECTORS = GENERATOR.standard_normal((20, 5)).astype(np.float32)
SENTENCE_COUNTS = GENERATOR.integers(1, 8, 20)  # of ten sentences, those with each word
IDF = np.log((10 - SENTENCE_COUNTS + 0.5) / (SENTENCE_COUNTS + 0.5)).clip(min=0)


@pytest.fixture
def ranker():
    ranker = AlignedRanker(None)
    ranker.fit(Vocabulary(VECTORS, SENTENCE_COUNTS, 10))
    return ranker


def by_formula(question, candidate):
    """Return the score of a pair by the formula, word by word."""
    score = 0.0
    for word in question:
        cosines = [
            VECTORS[word]
            @ VECTORS[other]
            / np.linalg.norm(VECTORS[word])
            / np.linalg.norm(VECTORS[other])
            for other in candidate
        ]
        score += IDF[word] * max(cosines, default=0)
    return score


def test_scores_follow_the_formula_in_any_order(ranker):
    texts = [GENERATOR.integers(0, 20, GENERATOR.integers(1, 9)) for _ in range(4)]
    question_of = GENERATOR.integers(0, 4, 30)
    questions = [texts[number] for number in question_of]
    candidates = [GENERATOR.integers(0, 20, GENERATOR.integers(0, 12)) for _ in range(30)]
    expected = [by_formula(*pair) for pair in zip(questions, candidates, strict=True)]
    scores, _ = ranker.scores(Words(question_of, questions, candidates))
    assert scores == pytest.approx(expected, abs=1e-5)


def test_a_word_in_most_sentences_does_not_count():
    ranker = AlignedRanker(None)
    ranker.fit(Vocabulary(VECTORS, np.full(20, 9), 10))
    scores, _ = ranker.scores(Words(np.zeros(1, dtype=int), [np.arange(3)], [np.arange(3)]))
    assert scores == 0


def test_sentences_without_words_score_zero(ranker):
    none = np.array([], dtype=int)
    questions, candidates = [np.arange(3)] * 2 + [none], [none, np.arange(3), none]
    scores, _ = ranker.scores(Words(np.array([0, 0, 1]), questions, candidates))
    assert scores[0] == scores[2] == 0 and scores[1] > 0
