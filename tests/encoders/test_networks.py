"""Encoders that learn match their equations, one sentence at a time; dropout and its masks."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from analogyqa.encoders import build_encoder, gru
from analogyqa.encoders.gru import GRUMax
from analogyqa.encoders.networks import WIDTH
from analogyqa.encoders.word_vectors import Dropout
from analogyqa.settings.systems import Training
from builders.networks import bilstm_maximum, convolve

WORDS, DIM, SENTENCE_DIM = 40, 12, 10
LENGTHS = torch.tensor([3, 9, 1, 9, 4, 0])
SENTENCES = torch.randint(WORDS, (6, 9), generator=torch.Generator().manual_seed(1))
ENCODERS = ["bigru", "cnn", "bilstm", "nbow"]
every_encoder = pytest.mark.parametrize("name", ENCODERS)


def build(name: str, seed: int = 0, dim: int = DIM, **training) -> torch.nn.Module:
    vectors = np.random.default_rng(0).normal(size=(WORDS, dim))
    settings = {"sentence_dim": SENTENCE_DIM, "dropout": 0.0} | training
    return build_encoder(name, vectors, Training(**settings), seed)


def encode_by_hand(encoder: torch.nn.Module, ids: Tensor) -> Tensor:
    """Encode one sentence by the equations of the papers, without padding or packing."""
    x = encoder.word_vectors[ids]
    if hasattr(encoder, "gru"):
        return encoder.gru(x)[0].amax(dim=0)
    if hasattr(encoder, "projection"):
        return sum((encoder.projection(word).relu() for word in x), torch.zeros(SENTENCE_DIM))
    if hasattr(encoder, "lstm"):
        x = x if len(ids) else x.new_zeros(1, DIM)
        return bilstm_maximum(dict(encoder.lstm.named_parameters()), x)
    filters = encoder.convolution.weight, encoder.convolution.bias
    return convolve(x, *filters, WIDTH - 1, WIDTH - 1).tanh().amax(dim=0)


def encode_one_by_one(encoder: torch.nn.Module, words: Tensor, lengths: Tensor) -> Tensor:
    if hasattr(encoder, "gru"):  # which reads an empty sentence as its first padding id
        lengths = lengths.clamp(min=1)
    rows = zip(words, lengths.tolist(), strict=True)
    return torch.stack([encode_by_hand(encoder, ids[:length]) for ids, length in rows])


def test_xavier_weights_depend_on_both_dimensions():
    projection = build("nbow_xavier").projection
    bound = (6 / (DIM + SENTENCE_DIM)) ** 0.5
    assert 0.9 * bound < projection.weight.abs().max() <= bound
    assert not projection.bias.any()


@pytest.mark.parametrize("length", [4, 12])
def test_padding_to_a_length_is_read_like_words_with_zero_vectors(length):
    encoder = build("bigru", padded_length=length)
    vectors = torch.cat([build("bigru").word_vectors, torch.zeros(1, DIM)])
    for ids, count, vector in zip(SENTENCES, LENGTHS, encoder(SENTENCES, LENGTHS), strict=True):
        padded = [*ids[:count].tolist(), *[WORDS] * length][:length]
        by_hand = encoder.gru(vectors[padded])[0].amax(dim=0)
        torch.testing.assert_close(vector, by_hand)


def with_gradients(encoder: torch.nn.Module, vectors: Tensor) -> list[Tensor]:
    """Return the vectors, and the derivatives of a weighted sum of them by all parameters."""
    weights = torch.linspace(-1, 1, vectors.numel(), dtype=vectors.dtype).view_as(vectors)
    return [vectors, *torch.autograd.grad((vectors * weights).sum(), list(encoder.parameters()))]


def results(encoder: torch.nn.Module) -> list[Tensor]:
    return with_gradients(encoder, encoder(SENTENCES, LENGTHS))


@every_encoder
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.float64, 1e-12)])
def test_vectors_and_gradients_match_those_of_single_sentences(name, dtype, tolerance):
    encoder = build(name).to(dtype)
    expected = with_gradients(encoder, encode_one_by_one(encoder, SENTENCES, LENGTHS))
    assert expected[0].shape == (len(LENGTHS), SENTENCE_DIM)
    torch.testing.assert_close(results(encoder), expected, rtol=tolerance, atol=tolerance)


def test_bfloat16_changes_vectors_and_gradients_only_by_rounding():
    expected, rounded = (
        results(build("bigru", precision=name)) for name in ("float32", "bfloat16")
    )
    assert not rounded[0].equal(expected[0])
    for actual, exact in zip(rounded, expected, strict=True):
        assert actual.dtype == torch.float32
        difference = torch.linalg.vector_norm(actual - exact) / torch.linalg.vector_norm(exact)
        assert difference < 0.03  # a number in bfloat16 has 8 bits


@pytest.mark.parametrize("name", ["bigru", "bilstm"])
def test_the_value_of_a_dimension_is_the_state_at_its_winner(name):
    encoder = build(name)
    words, lengths = SENTENCES[:5], LENGTHS[:5]  # the last one is empty
    winners, vectors = encoder.winners(words, lengths), encoder(words, lengths)
    for ids, length, winner, vector in zip(words, lengths, winners, vectors, strict=True):
        states, _ = getattr(encoder, name.removeprefix("bi"))(encoder.word_vectors[ids[:length]])
        torch.testing.assert_close(states.gather(0, winner[None])[0], vector)


def test_the_winner_of_a_convolution_is_the_middle_of_the_window():
    encoder = build("cnn")
    kernel, middle = encoder.convolution.weight, WIDTH // 2
    with torch.no_grad():  # filters that see the middle word only
        kernel[:, :, [tap for tap in range(WIDTH) if tap != middle]] = 0
    values = encoder.word_vectors[SENTENCES[1]] @ kernel[:, :, middle].T
    best, expected = values.max(dim=0)
    winners = encoder.winners(SENTENCES[1:2], LENGTHS[1:2])[0]
    assert (best > 0).sum() > SENTENCE_DIM / 2  # padding has the value 0
    assert winners[best > 0].equal(expected[best > 0])
    assert encoder.winners(SENTENCES, LENGTHS)[2].tolist() == [0] * SENTENCE_DIM  # of one word


@pytest.mark.parametrize("name", ENCODERS[:3])
@pytest.mark.parametrize("place", ["word_vectors", "sentence_vector", "both"])
def test_dropout_acts_at_its_place(name, place):
    encoder = build(name, dropout=0.5, dropout_place=place)
    training, evaluated = (encoder.train(on)(SENTENCES, LENGTHS) for on in (True, False))
    kept = training != 0
    assert kept.all() == (place == "word_vectors")
    is_scaled = training[kept].allclose(2 * evaluated[kept])
    assert is_scaled == (place == "sentence_vector")  # dropped words change the maxima


# Our GRU


def test_the_gpu_path_gives_the_same_results(monkeypatch):
    encoder = build("bigru").double()
    expected = results(encoder)
    monkeypatch.setattr(encoder, "_pool", encoder._pool_on_gpu)
    torch.testing.assert_close(results(encoder), expected)


@pytest.mark.skipif(
    not hasattr(torch.ops.mkldnn, "_linear_pointwise"), reason="this PyTorch has no oneDNN operator"
)
def test_onednn_gives_the_same_results(monkeypatch):
    monkeypatch.setattr(gru, "_USE_ONEDNN", True)
    expected = results(build("bigru"))
    monkeypatch.setattr(gru, "_USE_ONEDNN", False)
    torch.testing.assert_close(results(build("bigru")), expected)


@pytest.mark.parametrize("rows", [None, [2, 0, 0, 1, 2, 0]])
def test_gradients_of_the_gru_match_numerical_ones(rows):
    torch.manual_seed(0)
    shapes = [(9, 4), (9, 3), (9,), (9,)]
    inputs = [torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes]
    x = torch.randn(6 if rows is None else 3, 4, dtype=torch.float64, requires_grad=True)
    rows = None if rows is None else torch.tensor(rows)
    assert torch.autograd.gradcheck(
        lambda x, *weights: GRUMax.apply(x, rows, *weights, [3, 2, 1]), (x, *inputs)
    )


def test_the_last_of_tied_states_gets_the_gradient():
    zeros = [torch.zeros(shape, requires_grad=True) for shape in [(3, 1), (3, 1), (3,), (3,)]]
    GRUMax.apply(torch.zeros(2, 1), None, *zeros, [1, 1]).sum().backward()
    # h2 = z h1 + (1 - z) n with z = 1/2: 1/2 through n of step 2 and 1/4 through that of step 1.
    assert zeros[2].grad.tolist() == [0, 0, 0.75]


def test_both_directions_read_the_same_dropped_word_vectors():
    encoder = build("bigru", dropout=0.5)
    names = [name for name, _ in encoder.gru.named_parameters() if name.endswith("l0")]
    with torch.no_grad():
        for name in names:
            getattr(encoder.gru, f"{name}_reverse").copy_(getattr(encoder.gru, name))
    vectors = encoder(SENTENCES[:, :1], torch.ones(len(LENGTHS), dtype=torch.int64))
    forward, reverse = vectors.chunk(2, dim=1)
    assert forward.equal(reverse)


# Dropout of vectors


def dropout(rate=0.5, mask="own") -> Dropout:
    torch.manual_seed(0)
    return Dropout(Training(dropout=rate, dropout_mask=mask), "word_vectors")


@pytest.mark.parametrize("mask", ["own", "shared"])
def test_no_dropout_in_evaluation_or_at_rate_0(mask):
    x = torch.randn(50, 40)
    for layer in (dropout(mask=mask).eval(), dropout(0, mask)):
        before = torch.get_rng_state()
        assert layer(x) is x
        assert torch.get_rng_state().equal(before)


@pytest.mark.parametrize("shape", [(50, 40), (5, 10, 40)])
def test_each_vector_has_its_own_mask_or_all_share_one(shape):
    masks = dropout()(torch.ones(shape)).eq(0).view(-1, shape[-1])
    assert len(masks.unique(dim=0)) == len(masks) == 50
    layer, x = dropout(mask="shared"), torch.ones(shape)
    first, second = (layer(x).eq(0).view(-1, shape[-1]).unique(dim=0) for _ in range(2))
    assert len(first) == len(second) == 1
    assert 0 < first.sum() < shape[-1]
    assert not first.equal(second)  # each batch draws a new mask


@given(st.floats(0.01, 0.95), st.sampled_from(["own", "shared"]))
def test_kept_coordinates_are_scaled(rate, mask):
    x = torch.linspace(1, 2, 60).view(3, 20).double()
    original = x.clone()
    y = dropout(rate, mask)(x)
    kept = y != 0
    torch.testing.assert_close(y[kept], x[kept] / (1 - rate))
    assert x.equal(original)
