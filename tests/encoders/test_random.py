"""Random sentence vectors."""

import numpy as np

from analogyqa.encoders.random import RandomEncoder
from analogyqa.rankers.cosine import unit
from analogyqa.settings.systems import Training


def vectors(seed=0):
    encoder = RandomEncoder(None, Training(sentence_dim=6), seed)
    return encoder(np.zeros((500, 3), dtype=np.int64), np.full(500, 3))


def test_every_sentence_has_a_vector_of_its_own():
    assert vectors().shape == (500, 6)
    assert np.unique(vectors(), axis=0).shape == (500, 6)


def test_the_vectors_follow_the_seed():
    np.testing.assert_array_equal(vectors(1), vectors(1))
    assert not np.array_equal(vectors(1), vectors(2))


def test_no_direction_is_preferred():
    assert np.abs(unit(vectors()).mean(axis=0)).max() < 0.1
