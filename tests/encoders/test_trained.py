"""What both trained encoders keep, against their equations over each sentence alone."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from analogyqa.encoders import build_encoder
from analogyqa.encoders.cnn import WIDTH
from analogyqa.settings.systems import Training

WORDS, DIM, SENTENCE_DIM = 40, 12, 10
LENGTHS = torch.tensor([3, 9, 1, 9, 4, 6])
SENTENCES = torch.randint(WORDS, (6, 9), generator=torch.Generator().manual_seed(1))
PLACES = ["word_vectors", "sentence_vector", "both"]
both = pytest.mark.parametrize("name", ["bigru", "cnn"])


def build(name: str, **training) -> torch.nn.Module:
    vectors = np.random.default_rng(0).normal(size=(WORDS, DIM))
    settings = {"sentence_dim": SENTENCE_DIM, "dropout": 0.0} | training
    return build_encoder(name, vectors, Training(**settings), seed=0)


def by_hand(encoder: torch.nn.Module, ids: Tensor) -> Tensor:
    """Encode one sentence as the papers say it, with neither padding nor packing."""
    x = encoder.word_vectors[ids]
    if hasattr(encoder, "gru"):
        return encoder.gru(x)[0].amax(dim=0)
    weight, bias = encoder.convolution.weight, encoder.convolution.bias
    zeros = torch.zeros(WIDTH - 1, DIM, dtype=x.dtype)
    x = torch.cat([zeros, x, zeros])
    windows = [x[start : start + WIDTH].t() for start in range(len(ids) + WIDTH - 1)]
    places = [torch.tanh((weight * window).sum(dim=(1, 2)) + bias) for window in windows]
    return torch.stack(places).amax(dim=0)


def each_alone(encoder: torch.nn.Module, words: Tensor, lengths: Tensor) -> Tensor:
    rows = zip(words, lengths.tolist(), strict=True)
    return torch.stack([by_hand(encoder, ids[:length]) for ids, length in rows])


def gradients(encoder: torch.nn.Module, vectors: Tensor) -> list[Tensor]:
    weights = torch.linspace(-1, 1, vectors.numel(), dtype=vectors.dtype).view_as(vectors)
    return list(torch.autograd.grad((vectors * weights).sum(), list(encoder.parameters())))


@both
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.float64, 1e-12)])
def test_vectors_and_gradients_are_those_of_each_sentence_alone(name, dtype, tolerance):
    encoder = build(name).to(dtype)
    vectors, expected = encoder(SENTENCES, LENGTHS), each_alone(encoder, SENTENCES, LENGTHS)
    assert expected.shape == (len(LENGTHS), SENTENCE_DIM)
    close = {"rtol": tolerance, "atol": tolerance}
    torch.testing.assert_close(vectors, expected, **close)
    torch.testing.assert_close(gradients(encoder, vectors), gradients(encoder, expected), **close)


@both
@given(
    lengths=st.lists(st.integers(0, 12), min_size=1, max_size=5),
    more=st.integers(0, 7),
    padding=st.integers(0, WORDS - 1),
    seed=st.integers(0, 99),
)
def test_padding_never_changes_a_vector(name, lengths, more, padding, seed):
    """An empty sentence is the first id of its padding for a GRU and all zeros for a CNN."""
    least = int(name == "bigru")
    encoder, ends = build(name), torch.tensor(lengths).clamp(min=least)
    with torch.no_grad():  # so that what the padding gives would win the maximum
        for bias in (each for key, each in encoder.named_parameters() if "bias" in key):
            bias += 1 if name == "cnn" else -1
    generator = torch.Generator().manual_seed(seed)
    words = torch.randint(WORDS, (len(lengths), max(lengths) + more + 1), generator=generator)
    changed = words.masked_fill(torch.arange(words.shape[1]) >= ends[:, None], padding)
    vectors = encoder(words, torch.tensor(lengths))
    assert vectors.equal(encoder(changed, torch.tensor(lengths)))
    torch.testing.assert_close(vectors, each_alone(encoder, words, ends))


@both
def test_two_runs_are_equal_to_the_bit(name):
    def run() -> list[Tensor]:
        encoder = build(name, dropout=0.5, dropout_place="both")
        vectors = encoder(SENTENCES, LENGTHS)
        return [vectors, *gradients(encoder, vectors)]

    assert all(first.equal(second) for first, second in zip(run(), run(), strict=True))


@both
def test_the_initial_weights_follow_the_seed(name):
    def weights(seed: int) -> Tensor:
        encoder = build_encoder(name, np.ones((WORDS, DIM)), Training(), seed)
        return torch.cat([parameter.flatten() for parameter in encoder.parameters()])

    assert weights(1).equal(weights(1))
    assert not weights(1).equal(weights(2))


@both
def test_a_diverged_weight_shows_in_the_vectors(name):
    encoder = build(name)
    with torch.no_grad():
        next(encoder.parameters()).view(-1)[0] = torch.nan
    assert encoder(SENTENCES, LENGTHS).isnan().any()


@both
def test_the_word_vectors_are_frozen_and_not_saved(name):
    encoder = build(name, dropout=0.5)
    before = encoder.word_vectors.clone()
    encoder(SENTENCES, LENGTHS).sum().backward()
    assert encoder.word_vectors.equal(before)
    assert set(encoder.state_dict()) == {key for key, _ in encoder.named_parameters()}
    assert all(parameter.grad.abs().sum() > 0 for parameter in encoder.parameters())


@both
@pytest.mark.parametrize("place", PLACES)
def test_dropout_acts_in_training_only_and_where_it_is_asked_for(name, place):
    encoder = build(name, dropout=0.5, dropout_place=place)
    training, evaluated = (encoder.train(on)(SENTENCES, LENGTHS) for on in (True, False))
    assert evaluated.equal(build(name)(SENTENCES, LENGTHS))
    assert not training.equal(evaluated)
    assert (training == 0).any() == (place != "word_vectors")
    left = training != 0
    scaled = training[left].allclose(2 * evaluated[left])
    assert scaled == (place == "sentence_vector")  # which leaves the word vectors alone
