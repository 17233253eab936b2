"""Encoders that are not trained: means and sums of word vectors, random vectors, all words."""

import numpy as np
import pytest
import torch

from analogyqa.encoders import build_encoder
from analogyqa.encoders.fixed import MeanEncoder, RandomEncoder, SumEncoder, UnitMeanEncoder
from analogyqa.settings.systems import Training
from analogyqa.vectors import unit

VECTORS = np.array([[9, 9], [1, 2], [3, 6]], dtype=np.float32)


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
    mean, total = (
        encoder_class(VECTORS, Training(), seed=0) for encoder_class in (MeanEncoder, SumEncoder)
    )
    sentences = np.array(words), np.array(lengths)
    assert mean(*sentences).tolist() == expected
    assert total(*sentences).tolist() == (np.array(expected) * [[n] for n in lengths]).tolist()


def test_unit_mean_weighs_words_equally():
    vectors = np.array([[0, 0], [3, 4], [0, 9]], dtype=np.float32)
    encoder = UnitMeanEncoder(vectors, Training(), seed=0)
    sentence_vectors = encoder(np.array([[1, 2, 0], [1, 0, 0]]), np.array([2, 2]))
    np.testing.assert_allclose(sentence_vectors, [[0.3, 0.9], [0.3, 0.4]], rtol=1e-6)


def random_vectors(seed: int) -> np.ndarray:
    encoder = RandomEncoder(None, Training(sentence_dim=6), seed)
    return encoder(np.zeros((500, 3), dtype=np.int64), np.full(500, 3))


def test_random_vectors_are_centred_and_follow_the_seed():
    vectors = random_vectors(1)
    assert np.unique(vectors, axis=0).shape == (500, 6)
    np.testing.assert_array_equal(random_vectors(1), vectors)
    assert not np.array_equal(random_vectors(2), vectors)
    assert np.abs(unit(vectors).mean(axis=0)).max() < 0.1


def test_the_untrained_bigru_is_the_trained_one_before_its_first_step():
    training = Training(sentence_dim=6)
    words, lengths = np.array([[1, 2, 2], [2, 0, 0]]), np.array([3, 1])
    untrained = build_encoder("untrained_bigru", VECTORS, training, 4)(words, lengths)
    trained = build_encoder("bigru", VECTORS, training, 4).eval()
    expected = trained(torch.from_numpy(words), torch.from_numpy(lengths)).detach().numpy()
    np.testing.assert_array_equal(untrained, expected)
    other = build_encoder("untrained_bigru", VECTORS, training, 5)(words, lengths)
    assert not np.allclose(untrained, other)


WORD_VECTORS = np.random.default_rng(0).normal(size=(9, 4)).astype(np.float32)
SENTENCES = torch.tensor([[1, 2, 3], [4, 5, 6], [7, 8, 0]])
LENGTHS = torch.tensor([3, 1, 0])


def encoder():
    return build_encoder("words", WORD_VECTORS, Training(), seed=0)


def test_word_vectors_are_padded_with_zeros():
    vectors = encoder()(SENTENCES, LENGTHS)
    assert (vectors.shape, vectors.dtype) == ((3, 3, 4), torch.float32)
    expected = np.zeros((3, 3, 4), dtype=np.float32)
    expected[0], expected[1, 0] = WORD_VECTORS[[1, 2, 3]], WORD_VECTORS[4]
    assert vectors.numpy().tobytes() == expected.tobytes()  # no -0


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_padding_stays_finite(value):
    broken = WORD_VECTORS.copy()
    broken[5] = value
    vectors = build_encoder("words", broken, Training(), seed=0)(SENTENCES, LENGTHS)
    assert vectors.isfinite().all()
