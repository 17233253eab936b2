"""What a convolution reads, at the ends of a sentence and in its order."""

import numpy as np
import pytest
import torch

from analogyqa.encoders.cnn import CNNEncoder
from analogyqa.settings.systems import Training


@pytest.fixture
def encoder():
    vectors = np.random.default_rng(0).normal(size=(40, 12))
    return CNNEncoder(vectors, Training(sentence_dim=10, dropout=0.0), seed=0)


def test_a_sentence_shorter_than_the_filters_is_read_at_every_place(encoder):
    with torch.no_grad():
        encoder.convolution.bias.zero_()
        encoder.convolution.weight.zero_()
        encoder.convolution.weight[0, 0, -1] = 1  # reads the last word of a window
        encoder.convolution.weight[1, 0, 0] = 1  # reads the first one
        encoder.word_vectors[7, 0] = 0.5
    vector = encoder(torch.tensor([[7]]), torch.tensor([1]))[0]
    assert vector[:2].tolist() == pytest.approx([np.tanh(0.5)] * 2)


def test_an_empty_sentence_is_all_zeros(encoder):
    vector = encoder(torch.tensor([[3, 4]]), torch.tensor([0]))[0]
    torch.testing.assert_close(vector, encoder.convolution.bias.tanh())


def test_the_order_of_words_counts(encoder):
    words = torch.tensor([[1, 2, 3, 4], [4, 3, 2, 1]])
    first, second = encoder(words, torch.tensor([4, 4]))
    assert not first.allclose(second)
