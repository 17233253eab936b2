"""The GRU of our own: its other paths, its gradients and its dropout."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from analogyqa.encoders import gru
from analogyqa.encoders.bigru import BiGRUEncoder
from analogyqa.encoders.gru import GRUMax, linear, reversed_rows
from analogyqa.settings.systems import Training

WORDS, DIM, SENTENCE_DIM = 40, 12, 10
LENGTHS = torch.tensor([3, 9, 1, 9, 4, 6])
SENTENCES = torch.randint(WORDS, (6, 9), generator=torch.Generator().manual_seed(1))


def build(**training) -> BiGRUEncoder:
    vectors = np.random.default_rng(0).normal(size=(WORDS, DIM))
    settings = {"sentence_dim": SENTENCE_DIM, "dropout": 0.0} | training
    return BiGRUEncoder(vectors, Training(**settings), seed=0)


def results(encoder: BiGRUEncoder) -> list[Tensor]:
    """Return the vectors of the sentences, and the gradients by all weights."""
    vectors = encoder(SENTENCES, LENGTHS)
    weights = torch.linspace(-1, 1, vectors.numel(), dtype=vectors.dtype).view_as(vectors)
    return [vectors, *torch.autograd.grad((vectors * weights).sum(), list(encoder.parameters()))]


def test_the_path_of_other_devices_gives_the_same_vectors_and_gradients(monkeypatch):
    encoder = build().double()
    expected = results(encoder)
    monkeypatch.setattr(encoder, "_pool", encoder._pool_on_gpu)
    torch.testing.assert_close(results(encoder), expected)


@pytest.mark.skipif(
    not hasattr(torch.ops.mkldnn, "_linear_pointwise"), reason="this PyTorch has no oneDNN operator"
)
def test_without_onednn_the_vectors_and_gradients_are_the_same(monkeypatch):
    encoder = build()
    monkeypatch.setattr(gru, "_USE_ONEDNN", True)
    expected = results(encoder)
    monkeypatch.setattr(gru, "_USE_ONEDNN", False)
    torch.testing.assert_close(results(encoder), expected)


@pytest.mark.parametrize("rows", [None, [2, 0, 0, 1, 2, 0]])
def test_gradients_are_the_derivatives_also_by_the_input(rows):
    torch.manual_seed(0)
    shapes = [(9, 4), (9, 3), (9,), (9,)]
    inputs = [torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes]
    x = torch.randn(6 if rows is None else 3, 4, dtype=torch.float64, requires_grad=True)
    rows = None if rows is None else torch.tensor(rows)
    assert torch.autograd.gradcheck(
        lambda x, *weights: GRUMax.apply(x, rows, *weights, [3, 2, 1]), (x, *inputs)
    )


def test_one_state_gets_the_gradient_where_states_tie():
    zeros = [torch.zeros(shape, requires_grad=True) for shape in [(3, 1), (3, 1), (3,), (3,)]]
    GRUMax.apply(torch.zeros(2, 1), None, *zeros, [1, 1]).sum().backward()
    # h2 = z h1 + (1 - z) n with z = 1/2: 1/2 through n of step 2 and 1/4 through that of step 1.
    assert zeros[2].grad.tolist() == [0, 0, 0.75]


def test_reversed_rows_read_each_sentence_from_its_end():
    # Sentences of 3, 2 and 1 tokens: rows a0 b0 c0 a1 b1 a2.
    assert reversed_rows(torch.tensor([3, 2, 1])).tolist() == [5, 4, 2, 3, 1, 0]


@pytest.mark.parametrize("transposed", [False, True])
def test_linear_is_that_of_pytorch(transposed):
    x, weight, bias = torch.randn(7, 5), torch.randn(4, 5), torch.randn(4)
    if transposed:
        x, weight = x.t().contiguous().t(), weight.t().contiguous().t()
    torch.testing.assert_close(linear(x, weight, bias), F.linear(x, weight, bias))


def test_without_gradients_the_vectors_are_the_same_and_nothing_is_kept():
    encoder = build()
    kept = []
    with torch.autograd.graph.saved_tensors_hooks(kept.append, lambda tensor: tensor):
        with torch.no_grad():
            vectors = encoder(SENTENCES, LENGTHS)
        assert not kept
        expected = encoder(SENTENCES, LENGTHS)
        assert kept
    assert not vectors.requires_grad
    assert vectors.equal(expected)


def test_dropout_scales_the_word_vectors_that_it_keeps():
    encoder = build(dropout=0.25)
    encoder.word_vectors.fill_(3)
    vectors = encoder._embed(torch.zeros(1000, dtype=torch.int64))
    assert vectors.unique().tolist() == [0, 4]
    assert abs((vectors == 0).float().mean() - 0.25) < 0.02


def test_both_directions_read_the_same_dropped_word_vectors():
    encoder = build(dropout=0.5)
    names = [name for name, _ in encoder.gru.named_parameters() if name.endswith("l0")]
    with torch.no_grad():
        for name in names:
            getattr(encoder.gru, f"{name}_reverse").copy_(getattr(encoder.gru, name))
    vectors = encoder(SENTENCES[:, :1], torch.ones(len(LENGTHS), dtype=torch.int64))
    forward, reverse = vectors.chunk(2, dim=1)
    assert forward.equal(reverse)
