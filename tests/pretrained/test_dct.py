"""The discrete cosine transform of word vectors."""

import numpy as np
import pytest
from scipy.fft import dct

from analogyqa.pretrained import Resources
from analogyqa.pretrained.word_vectors import coefficients, encode_dct

WORDS = ["a", "b", "c"]
VECTORS = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)


@pytest.fixture
def run(write_vectors):
    vectors = write_vectors(WORDS, VECTORS)
    return lambda texts, k: encode_dct(texts, Resources("", vectors, [], True, {"k": k}))


@pytest.mark.parametrize("words", [1, 2, 5])
def test_coefficients_match_the_orthonormal_transform(words):
    rows = coefficients(words, 7)
    expected = dct(np.eye(words), norm="ortho", axis=0)[:7]
    assert rows[: len(expected)] == pytest.approx(expected, abs=1e-6)
    assert not rows[words:].any()


def test_a_sentence_vector_concatenates_the_first_coefficients(run):
    (vector,) = run(["A b  unknown c"], 1)
    assert vector == pytest.approx(dct(VECTORS, norm="ortho", axis=0)[:2].ravel(), abs=1e-5)
    assert run(["unknown", "a"], 3)[0].tolist() == [0] * 16


def test_a_word_is_looked_up_in_its_original_case_first(write_vectors):
    path = write_vectors(["a", "A", "b"], np.float32([[1, 0], [0, 2], [3, 3]]))
    vectors = encode_dct(["A", "B", "a", "C"], Resources("", path, [], False, {"k": 0}))
    assert vectors.tolist() == [[0, 2], [3, 3], [1, 0], [0, 0]]
