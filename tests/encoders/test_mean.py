"""The mean of word vectors."""

import numpy as np
import pytest

from analogyqa.encoders.mean import MeanEncoder
from analogyqa.settings.systems import Training

VECTORS = np.array([[9, 9], [1, 2], [3, 6]], dtype=np.float32)


@pytest.fixture
def encoder():
    return MeanEncoder(VECTORS, Training(), seed=0)


def encode(encoder, words, lengths):
    return encoder(np.array(words), np.array(lengths)).tolist()


def test_a_sentence_is_the_mean_of_its_words(encoder):
    assert encode(encoder, [[1, 2], [1, 1]], [2, 2]) == [[2, 4], [1, 2]]


def test_padding_does_not_change_a_vector(encoder):
    assert encode(encoder, [[1, 2, 0, 0]], [2]) == encode(encoder, [[1, 2]], [2])


def test_the_word_with_the_number_of_the_padding_counts(encoder):
    assert encode(encoder, [[0, 0]], [1]) == [[9, 9]]


def test_a_sentence_without_words_is_zero(encoder):
    assert encode(encoder, [[0]], [0]) == [[0, 0]]
