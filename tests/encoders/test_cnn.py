import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from analogyqa.encoders.cnn import WIDTH, CNNEncoder
from analogyqa.settings.systems import Training

WORDS, DIM, SENTENCE_DIM = 40, 12, 10
LENGTHS = torch.tensor([3, 9, 1, 9, 4, 6])


def build(**training) -> CNNEncoder:
    vectors = np.random.default_rng(0).normal(size=(WORDS, DIM))
    settings = {"sentence_dim": SENTENCE_DIM, "dropout": 0.0} | training
    return CNNEncoder(vectors, Training(**settings), seed=0)


def sentences(seed: int = 1) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(WORDS, (len(LENGTHS), int(LENGTHS.max())), generator=generator)


def by_hand(encoder: CNNEncoder, ids: Tensor) -> Tensor:
    """Slide every filter over one sentence with WIDTH - 1 zeros on both sides, as the papers do."""
    weight, bias = encoder.convolution.weight, encoder.convolution.bias
    zeros = torch.zeros(WIDTH - 1, DIM)
    x = torch.cat([zeros, encoder.word_vectors[ids], zeros])
    windows = [x[start : start + WIDTH].t() for start in range(len(ids) + WIDTH - 1)]
    places = [torch.tanh((weight * window).sum(dim=(1, 2)) + bias) for window in windows]
    return torch.stack(places).amax(dim=0)


def test_the_vectors_are_those_of_each_sentence_alone():
    encoder, words = build(), sentences()
    rows = zip(words, LENGTHS.tolist(), strict=True)
    expected = torch.stack([by_hand(encoder, ids[:length]) for ids, length in rows])
    assert expected.shape == (len(LENGTHS), SENTENCE_DIM)
    torch.testing.assert_close(encoder(words, LENGTHS), expected)


@given(
    lengths=st.lists(st.integers(0, 12), min_size=1, max_size=5),
    more=st.integers(0, 7),
    padding=st.integers(0, WORDS - 1),
    seed=st.integers(0, 99),
)
def test_padding_never_changes_a_vector(lengths, more, padding, seed):
    encoder = build()
    with torch.no_grad():
        encoder.convolution.bias += 1  # so that what the padding gives would win the maximum
    generator = torch.Generator().manual_seed(seed)
    words = torch.randint(WORDS, (len(lengths), max(lengths) + more + 1), generator=generator)
    ends = torch.tensor(lengths)
    changed = words.masked_fill(torch.arange(words.shape[1]) >= ends[:, None], padding)
    torch.testing.assert_close(encoder(changed, ends), encoder(words, ends), rtol=0, atol=0)
    for ids, length, vector in zip(words, lengths, encoder(words, ends), strict=True):
        torch.testing.assert_close(vector, by_hand(encoder, ids[:length]))


def test_a_sentence_shorter_than_the_filters_is_read_at_every_place():
    encoder = build()
    with torch.no_grad():
        encoder.convolution.bias.zero_()
        encoder.convolution.weight.zero_()
        encoder.convolution.weight[0, 0, -1] = 1  # reads the last word of a window
        encoder.convolution.weight[1, 0, 0] = 1  # reads the first one
        encoder.word_vectors[7, 0] = 0.5
    vector = encoder(torch.tensor([[7]]), torch.tensor([1]))[0]
    assert vector[:2].tolist() == pytest.approx([np.tanh(0.5)] * 2)


def test_an_empty_sentence_has_a_finite_vector():
    encoder = build()
    vector = encoder(sentences()[:1], torch.tensor([0]))[0]
    torch.testing.assert_close(vector, encoder.convolution.bias.tanh())


def test_the_order_of_words_counts():
    encoder, words = build(), torch.tensor([[1, 2, 3, 4], [4, 3, 2, 1]])
    first, second = encoder(words, torch.tensor([4, 4]))
    assert not first.allclose(second)


def test_the_word_vectors_are_frozen_and_not_saved():
    encoder, words = build(dropout=0.5), sentences()
    before = encoder.word_vectors.clone()
    encoder(words, LENGTHS).sum().backward()
    assert encoder.word_vectors.equal(before)
    assert set(encoder.state_dict()) == {"convolution.weight", "convolution.bias"}
    assert all(parameter.grad.abs().sum() > 0 for parameter in encoder.parameters())


@pytest.mark.parametrize("place", ["word_vectors", "sentence_vector", "both"])
def test_dropout_acts_in_training_only(place):
    encoder, words = build(dropout=0.5, dropout_place=place), sentences()
    training = encoder(words, LENGTHS)
    evaluated = encoder.eval()(words, LENGTHS)
    assert not training.equal(evaluated)
    assert evaluated.equal(build()(words, LENGTHS))


@pytest.mark.parametrize(
    ("place", "zeros"), [("word_vectors", False), ("sentence_vector", True), ("both", True)]
)
def test_dropout_of_the_sentence_vector_gives_zeros(place, zeros):
    vectors = build(dropout=0.5, dropout_place=place)(sentences(), LENGTHS)
    assert (vectors == 0).any() == zeros


def test_dropout_of_the_sentence_vector_leaves_the_word_vectors_alone():
    words = sentences()
    vectors = build(dropout=0.5, dropout_place="sentence_vector")(words, LENGTHS)
    left = vectors != 0
    torch.testing.assert_close(vectors[left], 2 * build()(words, LENGTHS)[left])


def test_a_diverged_weight_shows_in_the_vectors():
    encoder = build()
    with torch.no_grad():
        encoder.convolution.weight[0, 0, 0] = torch.nan
    assert encoder(sentences(), LENGTHS).isnan().any()


def test_two_runs_are_equal_to_the_bit():
    def run() -> list[Tensor]:
        encoder = build(dropout=0.5, dropout_place="both")
        vectors = encoder(sentences(), LENGTHS)
        return [vectors, *torch.autograd.grad(vectors.square().sum(), list(encoder.parameters()))]

    assert all(first.equal(second) for first, second in zip(run(), run(), strict=True))
