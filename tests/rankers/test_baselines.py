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


def test_scores_match_the_formula_in_any_order():
    questions = ["the cat", "long road", "cat", "the the dog", "a cat or a"]
    pairs = [(question, sentence) for sentence in COLLECTION for question in questions]
    sentences = [sentence.split() for sentence in COLLECTION]
    expected = [formula(*map(str.split, pair), sentences) for pair in pairs]
    scores = bm25_scores(*zip(*pairs, strict=True), COLLECTION, True)
    np.testing.assert_allclose(scores, expected, rtol=1e-5)
    assert scores.dtype == np.float32
    assert bm25_scores([], [], COLLECTION, True).shape == (0,)


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


def align(question, candidate):
    """Return the score of a pair by the formula, word by word."""
    units = VECTORS / np.linalg.norm(VECTORS, axis=1, keepdims=True)
    best = [max((units[word] @ units[v] for v in candidate), default=0) for word in question]
    return IDF[question] @ best


def test_scores_follow_the_formula_in_any_order(aligned):
    texts = [GENERATOR.integers(0, 20, GENERATOR.integers(1, 9)) for _ in range(4)]
    question_numbers = GENERATOR.integers(0, 4, 30)
    questions = [texts[number] for number in question_numbers]
    candidates = [GENERATOR.integers(0, 20, GENERATOR.integers(0, 12)) for _ in range(30)]
    expected = [align(*pair) for pair in zip(questions, candidates, strict=True)]
    scores, _ = aligned.scores(Words(question_numbers, questions, candidates))
    assert scores == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("frequency", [1, 9])
def test_frequent_words_and_sentences_without_words_score_zero(frequency):
    aligned = AlignedRanker(None)
    aligned.fit(Vocabulary(VECTORS, np.full(20, frequency), 10))
    words, none = np.arange(3), np.array([], dtype=int)
    pairs = Words(np.array([0, 0, 1]), [words, words, none], [none, words, none])
    scores, _ = aligned.scores(pairs)
    assert scores[0] == scores[2] == 0
    assert (scores[1] > 0) == (frequency == 1)


def test_the_given_order_is_the_order_of_the_candidates():
    given_order = build_ranker(System(title="S", ranker="given_order"))
    scores, _ = given_order.scores(Texts(["q", "q", "r"], ["c", "a", "b"], ["a", "b", "c"], True))
    assert (scores.dtype, np.argsort(-scores).tolist()) == (np.float32, [0, 1, 2])
