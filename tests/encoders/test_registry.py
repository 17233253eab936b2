"""What every registered encoder keeps, and that a new one needs a line only."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from analogyqa.encoders import build_encoder
from analogyqa.registry import ENCODERS, Entry
from analogyqa.settings.systems import Training
from analogyqa.training.loop import arrays_of

VECTORS = np.random.default_rng(0).normal(size=(11, 4)).astype(np.float32)
WORDS = np.array([[3, 1, 2, 0, 0], [4, 5, 6, 7, 8], [1, 0, 0, 0, 0]])
LENGTHS = np.array([3, 5, 1])
TRAINED = [name for name in ENCODERS if ENCODERS[name].trained]


def build(name):
    word_vectors = VECTORS if ENCODERS[name].needs_vectors else None
    return build_encoder(name, word_vectors, Training(sentence_dim=6), seed=0)


def encode(name, words, lengths):
    encoder = build(name)
    if ENCODERS[name].trained:
        encoder = arrays_of(encoder.eval(), torch.device("cpu"))
    return encoder(words, lengths)


@pytest.mark.parametrize("name", ENCODERS)
def test_an_encoder_gives_a_float32_vector_for_each_sentence(name):
    vectors = encode(name, WORDS, LENGTHS)
    assert vectors.dtype == np.float32
    assert vectors.shape == (3, 4 if name == "mean" else 6)
    assert np.isfinite(vectors).all()


@pytest.mark.parametrize("name", [name for name in ENCODERS if ENCODERS[name].needs_vectors])
def test_what_lies_behind_the_end_does_not_change_a_vector(name):
    other = np.where(np.arange(5) < LENGTHS[:, None], WORDS, 8)
    wider = np.pad(other, ((0, 0), (0, 2)), constant_values=3)
    expected = encode(name, WORDS, LENGTHS)
    np.testing.assert_allclose(encode(name, other, LENGTHS), expected, atol=1e-6)
    np.testing.assert_allclose(encode(name, wider, LENGTHS), expected, atol=1e-6)


@pytest.mark.parametrize("name", ENCODERS)
def test_an_encoder_takes_a_sentence_without_words(name):
    assert np.isfinite(encode(name, np.zeros((1, 1), dtype=np.int64), np.array([0]))).all()


@pytest.mark.parametrize("name", ENCODERS)
def test_an_encoder_is_a_module_with_weights_where_the_registry_says_that_it_is_trained(name):
    encoder = build(name)
    assert isinstance(encoder, torch.nn.Module) == ENCODERS[name].trained
    assert not ENCODERS[name].trained or list(encoder.parameters())


@pytest.mark.parametrize("name", TRAINED)
def test_the_initial_weights_follow_the_seed(name):
    def weights(seed):
        encoder = build_encoder(name, VECTORS, Training(sentence_dim=6), seed)
        return torch.cat([parameter.flatten() for parameter in encoder.parameters()])

    assert torch.equal(weights(1), weights(1))
    assert not torch.equal(weights(1), weights(2))


@pytest.mark.parametrize("name", TRAINED)
def test_weights_to_save_hold_no_word_vectors(name):
    assert not any(value.shape == VECTORS.shape for value in build(name).state_dict().values())


def test_encoders_that_are_not_trained_do_not_import_pytorch():
    names = [name for name in ENCODERS if name not in TRAINED]
    modules = [ENCODERS[name].module for name in names]
    imports = ", ".join(["sys", "analogyqa.training.scoring", *modules])
    code = f"import {imports}; sys.exit('torch' in sys.modules)"
    path = str(Path(__file__).parents[2] / "workflow_scripts")
    done = subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": path})
    assert done.returncode == 0


def test_an_encoder_of_ones_own_needs_only_a_line(monkeypatch):
    entry = Entry("collections:Counter", trained=False, needs_vectors=False)
    monkeypatch.setitem(ENCODERS, "mine", entry)
    monkeypatch.setattr("collections.Counter", lambda *arguments: arguments)
    assert build_encoder("mine", None, Training(), 3) == (None, Training(), 3)
