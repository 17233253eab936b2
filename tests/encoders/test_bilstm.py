"""QA-BiLSTM, against its equations over each sentence alone."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from analogyqa.encoders import build_encoder
from analogyqa.settings.systems import Training

WORDS, DIM, SENTENCE_DIM = 30, 5, 6
VECTORS = np.random.default_rng(0).normal(size=(WORDS, DIM))
SENTENCES = torch.randint(WORDS, (4, 7), generator=torch.Generator().manual_seed(1))
LENGTHS = torch.tensor([3, 7, 1, 0])


def build(seed=0, dim=SENTENCE_DIM, vectors=VECTORS, **training):
    settings = Training(sentence_dim=dim, **{"dropout": 0.0} | training)
    return build_encoder("bilstm", vectors, settings, seed)


def by_hand(encoder, ids):
    """Encode one sentence step by step: the gates i, f, g, o of each direction."""
    x = encoder.word_vectors[ids] if len(ids) else torch.zeros(1, DIM)
    halves = []
    for end, words in (("l0", x), ("l0_reverse", x.flip(0))):
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        of_word, of_state, *biases = (getattr(encoder.lstm, f"{name}_{end}") for name in names)
        state = memory = torch.zeros(SENTENCE_DIM // 2)
        states = []
        for word in words:
            i, f, g, o = (of_word @ word + of_state @ state + sum(biases)).chunk(4)
            memory = f.sigmoid() * memory + i.sigmoid() * g.tanh()
            state = o.sigmoid() * memory.tanh()
            states.append(state)
        halves.append(torch.stack(states).amax(dim=0))
    return torch.cat(halves)


def test_vectors_match_the_equations():
    encoder = build()
    found = encoder(SENTENCES, LENGTHS)
    assert found.shape == (4, SENTENCE_DIM)
    rows = zip(SENTENCES, LENGTHS.tolist(), strict=True)
    expected = torch.stack([by_hand(encoder, ids[:length]) for ids, length in rows])
    torch.testing.assert_close(found, expected)


@given(
    lengths=st.lists(st.integers(0, 6), min_size=1, max_size=4),
    more=st.integers(0, 4),
    padding=st.integers(0, WORDS - 1),
)
def test_vectors_do_not_depend_on_padding_or_batch(lengths, more, padding):
    encoder, ends = build(), torch.tensor(lengths)
    words = SENTENCES[: len(lengths), : max(lengths) + 1]
    wider = torch.nn.functional.pad(words, (0, more), value=padding)
    beyond = torch.arange(wider.shape[1]) >= ends[:, None]
    vectors = encoder(words, ends)
    torch.testing.assert_close(vectors, encoder(wider.masked_fill(beyond, padding), ends))
    torch.testing.assert_close(vectors.flip(0), encoder(words.flip(0), ends.flip(0)))


def test_gradients_reach_all_parameters_but_not_word_vectors():
    encoder = build()
    encoder(SENTENCES, LENGTHS).sum().backward()
    assert all(parameter.grad.abs().sum() > 0 for parameter in encoder.parameters())
    assert set(encoder.state_dict()) == {name for name, _ in encoder.named_parameters()}


def test_the_weights_follow_the_seed():
    first, again, other = (
        torch.nn.utils.parameters_to_vector(build(seed).parameters()) for seed in (1, 1, 2)
    )
    assert first.equal(again)
    assert not first.equal(other)


@pytest.mark.parametrize(("dim", "sentence_dim"), [(5, 6), (4, 2), (300, 600)])
def test_the_number_of_parameters(dim, sentence_dim):
    encoder = build(dim=sentence_dim, vectors=np.zeros((2, dim)))
    h = sentence_dim // 2
    count = sum(parameter.numel() for parameter in encoder.parameters())
    assert count == 8 * h * (dim + h + 2)
    assert (count == 1_444_800) == (dim == 300)


@pytest.mark.parametrize("place", ["word_vectors", "sentence_vector"])
def test_dropout_acts_in_training_only(place):
    encoder = build(dropout=0.5, dropout_place=place)
    assert not encoder(SENTENCES, LENGTHS).equal(build()(SENTENCES, LENGTHS))
    assert encoder.eval()(SENTENCES, LENGTHS).equal(build()(SENTENCES, LENGTHS))
