"""BM25 and the alignment of words follow their formulas."""

import logging
import math
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest

from analogyqa.errors import AnalogyQAError
from analogyqa.rankers import Texts, Vocabulary, Words, build_ranker
from analogyqa.rankers.baselines import AlignedRanker
from analogyqa.settings.systems import System
from builders.projects import clean_environment

COLLECTION = ["the cat sat", "the dog sat on the cat", "a bird", "the end of the long , long road"]


def bm25_scores(*texts) -> np.ndarray:
    return build_ranker(System(title="B", ranker="bm25")).scores(Texts(*texts))[0]


def formula(question: list[str], candidate: list[str], collection: list[list[str]]) -> float:
    """BM25 as in Lucene (Kamphuis et al. 2020, table 1), with k1 = 1.5 and b = 0.75."""
    counts = Counter(candidate)
    mean_length = sum(map(len, collection)) / len(collection)
    score = 0.0
    for word in question:
        documents = sum(word in sentence for sentence in collection)
        idf = math.log(1 + (len(collection) - documents + 0.5) / (documents + 0.5))
        norm = 1.5 * (1 - 0.75 + 0.75 * len(candidate) / mean_length)
        score += idf * counts[word] / (counts[word] + norm)
    return score


@pytest.mark.parametrize("question", ["the cat", "long road", "cat", "the the dog", "a cat or a"])
def test_scores_match_the_formula(question):
    scores = bm25_scores([question] * 4, COLLECTION, COLLECTION, True)
    sentences = [sentence.split() for sentence in COLLECTION]
    expected = [formula(question.split(), sentence, sentences) for sentence in sentences]
    np.testing.assert_allclose(scores, expected, rtol=1e-5)
    assert scores.dtype == np.float32


def test_pairs_in_any_order_get_their_own_scores():
    questions = ["cat", "dog", "cat", "road"]
    candidates = [COLLECTION[number] for number in (1, 1, 0, 2)]
    alone = [
        bm25_scores([question], [candidate], COLLECTION, True).item()
        for question, candidate in zip(questions, candidates, strict=True)
    ]
    assert bm25_scores(questions, candidates, COLLECTION, True).tolist() == alone
    assert len(set(alone)) == 4


def test_a_repeated_sentence_of_the_collection_counts_once():
    once = bm25_scores(["cat"], COLLECTION[:1], COLLECTION, True)
    assert bm25_scores(["cat"], COLLECTION[:1], COLLECTION + COLLECTION[2:], True) == once


@pytest.mark.parametrize(
    ("question", "candidate", "lowercase", "is_match"),
    [
        ('"', "Who 's `` here '' ?", True, True),  # the words are those of our tokeniser
        ("who's", "Who 's `` here '' ?", True, True),
        ("her", "Who 's `` here '' ?", True, False),
        ("of a is", "a cat", True, True),  # no word is a stop word
        ("Cat", "cat", True, True),
        ("Cat", "cat", False, False),
        ("", "a bird", True, False),
        ("unheard of words", "a bird", True, False),
    ],
)
def test_a_score_is_positive_only_if_a_word_is_shared(question, candidate, lowercase, is_match):
    (score,) = bm25_scores([question], [candidate], [candidate, "nobody"], lowercase)
    assert score > 0 if is_match else score == 0


def test_no_pairs_give_no_scores():
    assert bm25_scores([], [], COLLECTION, True).shape == (0,)


def test_a_candidate_that_is_not_in_the_collection_is_named():
    with pytest.raises(AnalogyQAError, match=r"candidate 'a stranger' is not in the collection"):
        bm25_scores(["cat"] * 2, ["the cat sat", "a stranger"], COLLECTION, True)


def test_scoring_prints_and_logs_nothing(capfd, caplog):
    caplog.set_level(logging.DEBUG)
    bm25_scores(["cat"], COLLECTION[:1], COLLECTION, True)
    assert capfd.readouterr() == ("", "")
    assert not caplog.records


def test_another_process_gives_the_same_bits():
    """The order of a set of words differs between processes."""
    texts = [" ".join(f"w{i * k % 13}" for i in range(9)) for k in range(1, 12)]
    script = (
        "from analogyqa.rankers.baselines import BM25Ranker, Texts\n"
        f"texts = {texts}\n"
        "print(BM25Ranker().scores(Texts(texts[::-1], texts, texts, True))[0].tobytes().hex())\n"
    )
    environment = clean_environment() | {"PYTHONHASHSEED": "1"}
    command = [sys.executable, "-c", script]
    completed = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert completed.stdout.strip() == bm25_scores(texts[::-1], texts, texts, True).tobytes().hex()


GENERATOR = np.random.default_rng(0)
VECTORS = GENERATOR.standard_normal((20, 5)).astype(np.float32)
SENTENCE_COUNTS = GENERATOR.integers(1, 8, 20)  # of ten sentences, those with each word
IDF = np.log((10 - SENTENCE_COUNTS + 0.5) / (SENTENCE_COUNTS + 0.5)).clip(min=0)


@pytest.fixture
def aligned():
    aligned = AlignedRanker(None)
    aligned.fit(Vocabulary(VECTORS, SENTENCE_COUNTS, 10))
    return aligned


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


def test_scores_follow_the_formula_in_any_order(aligned):
    texts = [GENERATOR.integers(0, 20, GENERATOR.integers(1, 9)) for _ in range(4)]
    question_of = GENERATOR.integers(0, 4, 30)
    questions = [texts[number] for number in question_of]
    candidates = [GENERATOR.integers(0, 20, GENERATOR.integers(0, 12)) for _ in range(30)]
    expected = [by_formula(*pair) for pair in zip(questions, candidates, strict=True)]
    scores, _ = aligned.scores(Words(question_of, questions, candidates))
    assert scores == pytest.approx(expected, abs=1e-5)


def test_a_word_in_most_sentences_does_not_count():
    aligned = AlignedRanker(None)
    aligned.fit(Vocabulary(VECTORS, np.full(20, 9), 10))
    scores, _ = aligned.scores(Words(np.zeros(1, dtype=int), [np.arange(3)], [np.arange(3)]))
    assert scores == 0


def test_sentences_without_words_score_zero(aligned):
    none = np.array([], dtype=int)
    questions, candidates = [np.arange(3)] * 2 + [none], [none, np.arange(3), none]
    scores, _ = aligned.scores(Words(np.array([0, 0, 1]), questions, candidates))
    assert scores[0] == scores[2] == 0 and scores[1] > 0
