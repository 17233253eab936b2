"""The vectors of all words, with zero rows as padding."""

import numpy as np
import pytest
import torch

from analogyqa.encoders import build_encoder
from analogyqa.settings.systems import Training

VECTORS = np.random.default_rng(0).normal(size=(9, 4)).astype(np.float32)
SENTENCES = torch.tensor([[1, 2, 3], [4, 5, 6], [7, 8, 0]])
LENGTHS = torch.tensor([3, 1, 0])


def encoder():
    return build_encoder("words", VECTORS, Training(), seed=0)


def test_word_vectors_are_padded_with_zeros():
    vectors = encoder()(SENTENCES, LENGTHS)
    assert (vectors.shape, vectors.dtype) == ((3, 3, 4), torch.float32)
    expected = np.zeros((3, 3, 4), dtype=np.float32)
    expected[0], expected[1, 0] = VECTORS[[1, 2, 3]], VECTORS[4]
    assert vectors.numpy().tobytes() == expected.tobytes()  # no -0


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_padding_stays_finite(value):
    broken = VECTORS.copy()
    broken[5] = value
    vectors = build_encoder("words", broken, Training(), seed=0)(SENTENCES, LENGTHS)
    assert vectors.isfinite().all()


def test_there_are_neither_parameters_nor_dropout():
    words = encoder().train()
    assert not list(words.parameters())
    assert not words.state_dict()
    assert words(SENTENCES, LENGTHS).equal(words(SENTENCES, LENGTHS))
