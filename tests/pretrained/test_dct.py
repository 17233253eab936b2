"""The discrete cosine transform of word vectors."""

import numpy as np
import pytest
from scipy.fft import dct

from analogyqa.analogies.pairs import MASK
from analogyqa.encoders.mean import MeanEncoder
from analogyqa.encoders.sum import SumEncoder
from analogyqa.encoders.unit_mean import UnitMeanEncoder
from analogyqa.pretrained import Resources
from analogyqa.pretrained.dct import coefficients, encode
from analogyqa.settings.systems import Training
from analogyqa.vectors.select import select_vectors

WORDS = ["a", "b", "c"]
VECTORS = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)


@pytest.fixture
def run(write_vectors):
    vectors = write_vectors(WORDS, VECTORS)
    return lambda texts, k: encode(texts, Resources("", vectors, [], True, {"k": k}))


@pytest.mark.parametrize("words", [1, 2, 5])
def test_the_coefficients_are_those_of_the_orthonormal_transform(words):
    rows = coefficients(words, 7)
    expected = dct(np.eye(words), norm="ortho", axis=0)[:7]
    assert rows[: len(expected)] == pytest.approx(expected, abs=1e-6)
    assert not rows[words:].any()


def test_sentences_are_the_first_coefficients_side_by_side(run):
    (found,) = run(["A b  unknown c"], 1)
    assert found == pytest.approx(dct(VECTORS, norm="ortho", axis=0)[:2].ravel(), abs=1e-5)
    assert run(["unknown", "a"], 3)[0].tolist() == [0] * 16


def test_a_word_in_its_own_case_comes_before_its_lower_case(write_vectors):
    path = write_vectors(["a", "A", "b"], np.float32([[1, 0], [0, 2], [3, 3]]))
    found = encode(["A", "B", "a", "C"], Resources("", path, [], False, {"k": 0}))
    assert found.tolist() == [[0, 2], [3, 3], [1, 0], [0, 0]]


def test_the_first_coefficient_points_where_the_mean_does(run):
    vectors = run(["a b c", "c a"], 0)
    means = np.stack([VECTORS.mean(axis=0), VECTORS[[2, 0]].mean(axis=0)])
    unit = [each / np.linalg.norm(each, axis=1, keepdims=True) for each in (vectors, means)]
    assert unit[0] == pytest.approx(unit[1], abs=1e-6)


def test_unknown_words_count_in_no_average(write_vectors):
    """By hand: of a, b, an unknown word and a mask, only a and b count."""
    path = write_vectors(["a", "b"], np.float32([[3, 0], [0, -4]]))
    tokens = ["a", "b", "unknown", MASK]
    vectors, _ = select_vectors(path, tokens, "zero")
    ids, lengths = np.arange(4)[None], np.array([4])
    by_encoder = [
        each(vectors, Training(), 0)(ids, lengths)[0] for each in (MeanEncoder, SumEncoder)
    ]
    by_encoder.append(encode([" ".join(tokens)], Resources("", path, [], True, {"k": 0}))[0])
    for vector in by_encoder:
        assert vector / np.linalg.norm(vector) == pytest.approx([0.6, -0.8])
    of_unit_words = UnitMeanEncoder(vectors, Training(), 0)(ids, lengths)[0]
    assert of_unit_words == pytest.approx([1 / 4, -1 / 4])
