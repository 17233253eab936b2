"""What every registered encoder keeps, and that a new one needs a line only."""

import numpy as np
import pytest
import torch

from analogyqa import encoders
from analogyqa.config import Training
from analogyqa.encoders import ENCODERS, build_encoder

VECTORS = np.random.default_rng(0).normal(size=(11, 4)).astype(np.float32)
WORDS = torch.tensor([[3, 1, 2, 0, 0], [4, 5, 6, 7, 8], [1, 0, 0, 0, 0]])
LENGTHS = torch.tensor([3, 5, 1])


def build(name):
    torch.manual_seed(0)
    word_vectors = VECTORS if ENCODERS[name].needs_vectors else None
    return build_encoder(name, word_vectors, Training(sentence_dim=6)).eval()


@pytest.mark.parametrize("name", ENCODERS)
def test_an_encoder_gives_a_float32_vector_for_each_sentence(name):
    vectors = build(name)(WORDS, LENGTHS)
    assert vectors.dtype == torch.float32
    assert vectors.shape == (3, 4 if name == "mean" else 6)
    assert torch.isfinite(vectors).all()


@pytest.mark.parametrize("name", [name for name in ENCODERS if ENCODERS[name].needs_vectors])
def test_what_lies_behind_the_end_does_not_change_a_vector(name):
    encoder = build(name)
    inside = torch.arange(5) < LENGTHS[:, None]
    other = torch.where(inside, WORDS, 8)
    wider = torch.nn.functional.pad(other, (0, 2), value=3)
    expected = encoder(WORDS, LENGTHS)
    torch.testing.assert_close(encoder(other, LENGTHS), expected)
    torch.testing.assert_close(encoder(wider, LENGTHS), expected)


@pytest.mark.parametrize("name", ENCODERS)
def test_an_encoder_takes_a_sentence_without_words(name):
    vectors = build(name)(torch.zeros(1, 1, dtype=torch.int64), torch.tensor([0]))
    assert torch.isfinite(vectors).all()


@pytest.mark.parametrize("name", ENCODERS)
def test_an_encoder_is_trained_where_the_registry_says_so(name):
    assert bool(list(build(name).parameters())) == ENCODERS[name].trained


@pytest.mark.parametrize("name", ENCODERS)
def test_weights_to_save_hold_no_word_vectors(name):
    assert not any(value.shape == VECTORS.shape for value in build(name).state_dict().values())


def test_an_encoder_of_ones_own_needs_only_a_line(monkeypatch):
    entry = encoders.Entry("collections:Counter", trained=False, needs_vectors=False)
    monkeypatch.setitem(ENCODERS, "mine", entry)
    monkeypatch.setattr("collections.Counter", lambda word_vectors, training: (training,))
    assert build_encoder("mine", None, Training()) == (Training(),)
