"""Encoders that are not trained: means and sums of word vectors, random vectors, all words."""

import numpy as np
import pytest
import torch

from analogyqa.encoders import build_encoder
from analogyqa.settings.systems import Training
from analogyqa.vectors import unit

VECTORS = np.array([[9, 9], [1, 2], [3, 6]], dtype=np.float32)


def build(name, vectors=VECTORS, seed=0):
    return build_encoder(name, vectors, Training(sentence_dim=6), seed)


@pytest.mark.parametrize(
    ("words", "lengths", "expected"),
    [
        ([[1, 2], [1, 1]], [2, 2], [[2, 4], [1, 2]]),
        ([[1, 2, 0, 0]], [2], [[2, 4]]),  # padding
        ([[0, 0]], [1], [[9, 9]]),  # the word with the number of the padding
        ([[0]], [0], [[0, 0]]),
    ],
)
def test_a_sentence_is_the_mean_or_the_sum_of_its_words(words, lengths, expected):
    sentences = np.array(words), np.array(lengths)
    assert build("mean")(*sentences).tolist() == expected
    sums = np.array(expected) * sentences[1][:, None]
    assert build("sum")(*sentences).tolist() == sums.tolist()


def test_unit_mean_weighs_words_equally():
    encoder = build("unit_mean", np.array([[0, 0], [3, 4], [0, 9]], dtype=np.float32))
    sentence_vectors = encoder(np.array([[1, 2, 0], [1, 0, 0]]), np.array([2, 2]))
    np.testing.assert_allclose(sentence_vectors, [[0.3, 0.9], [0.3, 0.4]], rtol=1e-6)


def test_random_vectors_are_different_and_centred():
    vectors = build("random", None)(np.zeros((500, 3), dtype=np.int64), np.full(500, 3))
    assert np.unique(vectors, axis=0).shape == (500, 6)
    assert np.abs(unit(vectors).mean(axis=0)).max() < 0.1


def test_the_untrained_bigru_is_the_trained_one_before_its_first_step():
    words, lengths = np.array([[1, 2, 2], [2, 0, 0]]), np.array([3, 1])
    trained = build("bigru", seed=4).eval()
    expected = trained(torch.from_numpy(words), torch.from_numpy(lengths)).detach().numpy()
    np.testing.assert_array_equal(build("untrained_bigru", seed=4)(words, lengths), expected)


@pytest.mark.parametrize("unused", [0, np.nan, np.inf])
def test_word_vectors_are_padded_with_zeros(unused):
    vectors = np.random.default_rng(0).normal(size=(9, 4)).astype(np.float32)
    vectors[5] = unused  # a word of the padding
    expected = np.zeros((3, 3, 4), dtype=np.float32)
    expected[0], expected[1, 0] = vectors[[1, 2, 3]], vectors[4]
    sentences = torch.tensor([[1, 2, 3], [4, 5, 6], [7, 8, 0]])
    padded = build("words", vectors)(sentences, torch.tensor([3, 1, 0]))
    assert padded.numpy().tobytes() == expected.tobytes()  # no -0
