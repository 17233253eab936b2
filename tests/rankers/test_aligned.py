"""Soft alignment of the words of a question with those of a candidate."""

import numpy as np
import pytest

from analogyqa.rankers import Vocabulary, Words
from analogyqa.rankers.aligned import AlignedRanker

GENERATOR = np.random.default_rng(0)
VECTORS = GENERATOR.standard_normal((20, 5)).astype(np.float32)
HOLDING = GENERATOR.integers(1, 8, 20)
IDF = np.log((10 - HOLDING + 0.5) / (HOLDING + 0.5)).clip(min=0)


@pytest.fixture
def ranker():
    ranker = AlignedRanker(None)
    ranker.fit(Vocabulary(VECTORS, HOLDING, 10))
    return ranker


def plain(question, candidate):
    """The formula, a word at a time."""
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
    expected = [plain(*pair) for pair in zip(questions, candidates, strict=True)]
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
