"""Smooth inverse frequency matches the paper's algorithm, step by step."""

import numpy as np
import pytest

from analogyqa.errors import AnalogyQAError
from analogyqa.pretrained import Resources
from analogyqa.pretrained.word_vectors import encode_sif

WORDS = ["the", "cat", "dog", "bird", "sat", "Cat", "fish"]
VECTORS = np.random.default_rng(0).normal(size=(len(WORDS), 4)).astype(np.float32)
TRAINING = ["the cat sat", "the dog", "the the unknown bird", "dog sat"]


@pytest.fixture
def run(write_vectors):
    def run(texts, training=TRAINING, lowercase=True):
        vectors = write_vectors(WORDS, VECTORS)
        return encode_sif(texts, Resources("", vectors, training, lowercase))

    return run


def by_hand(texts: list[str]) -> np.ndarray:
    """Algorithm 1 in float64; the 11 training tokens have `the` four times."""
    tokens = " ".join(TRAINING).split()
    assert (len(tokens), tokens.count("the")) == (11, 4)

    def mean(text):
        known = [word for word in text.split() if word in WORDS]
        weights = [1e-3 / (1e-3 + tokens.count(word) / len(tokens)) for word in known]
        rows = [VECTORS[WORDS.index(word)].astype(np.float64) for word in known]
        return sum(weight * row for weight, row in zip(weights, rows, strict=True)) / len(known)

    matrix = np.stack([mean(text) for text in TRAINING])
    values, directions = np.linalg.eigh(matrix.T @ matrix)
    shared = directions[:, np.argmax(values)]
    return np.stack([(np.eye(4) - np.outer(shared, shared)) @ mean(text) for text in texts])


def test_vectors_match_the_algorithm(run):
    """`fish`, which training never saw, has the weight one; unknown words are left out."""
    texts = ["the cat", "dog dog bird", "unknown cat never seen", "fish", "fish the", *TRAINING]
    vectors = run(texts)
    np.testing.assert_allclose(vectors, by_hand(texts), rtol=1e-4, atol=1e-7)
    assert vectors.dtype == np.float32
    assert np.abs(vectors).max() > 1e-4
    np.testing.assert_array_equal(run(texts), vectors)
    np.testing.assert_allclose(run(texts[1:2])[0], vectors[1], rtol=1e-4, atol=1e-7)


def test_a_sentence_without_a_known_word_is_zero(run):
    assert run(["", "unknown words only", "dog"]).any(axis=1).tolist() == [False, False, True]
    assert run([]).shape == (0, 4)


def test_words_are_lower_cased_on_demand(run):
    np.testing.assert_array_equal(run(["The CAT"]), run(["the cat"]))
    assert not np.allclose(run(["Cat"], lowercase=False), run(["cat"], lowercase=False))


@pytest.mark.parametrize("training", [[], ["unknown words", "more of them"]])
def test_a_training_split_without_known_words_is_an_error(run, training):
    with pytest.raises(AnalogyQAError, match=r"\.vec: none of the words of the training split"):
        run(["the cat"], training)
