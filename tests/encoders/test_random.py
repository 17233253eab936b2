"""Random sentence vectors."""

import torch

from analogyqa.config import Training
from analogyqa.encoders.random import RandomEncoder


def vectors(seed=0):
    torch.manual_seed(seed)
    encoder = RandomEncoder(None, Training(sentence_dim=6))
    return encoder(torch.zeros(500, 3, dtype=torch.int64), torch.full((500,), 3))


def test_every_sentence_has_a_vector_of_its_own():
    assert vectors().shape == (500, 6)
    assert vectors().unique(dim=0).shape == (500, 6)


def test_the_vectors_follow_the_seed():
    assert torch.equal(vectors(1), vectors(1))
    assert not torch.equal(vectors(1), vectors(2))


def test_no_direction_is_preferred():
    directions = torch.nn.functional.normalize(vectors(), dim=1)
    assert directions.mean(dim=0).abs().max() < 0.1
