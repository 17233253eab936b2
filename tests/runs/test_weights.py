"""The weights of a trained cell encode sentences, also of another data set."""

import numpy as np
import pytest
import torch

from analogyqa.encoders import build_encoder
from analogyqa.encoders.minilm import vocabulary
from analogyqa.errors import AnalogyQAError
from analogyqa.plan import Cell
from analogyqa.runs import solve
from analogyqa.runs.solve import sentence_vectors
from analogyqa.runs.train import train_cell
from analogyqa.runs.weights import trained_encoder, write_weights
from analogyqa.schemas import CORPUS, read_table
from analogyqa.settings.systems import System, Training
from analogyqa.vectors.store import read_store

SYSTEM = System(
    title="B", encoder="bigru", vectors="some", ranker="analogy", p=3,
    training={"sentence_dim": 4, "max_epochs": 2},
)  # fmt: skip
COMB = ["who", "when", "where"]
CELL = Cell("analogy", "toy", "comb")


@pytest.fixture
def files(cell_files):
    return {seed: cell_files(seed) for seed in (3, 4)}


@pytest.fixture
def weights(files, tmp_path):
    checkpoints, folder = tmp_path / "checkpoints", tmp_path / "run"
    train_cell(CELL, COMB, SYSTEM, "paper", files, {"train": "x"}, True, "cpu", checkpoints, folder)
    write_weights(CELL, COMB, SYSTEM, files, True, checkpoints, folder / "weights.pt")
    return folder / "weights.pt"


def test_each_seed_has_its_own_trained_weights(weights, files):
    vectors, _ = read_store(files[3].vectors)
    words, lengths = np.array([[0, 1, 2], [3, 4, 0]]), np.array([3, 2])
    first, other = (trained_encoder(SYSTEM, vectors, seed, weights)(words, lengths)
                    for seed in (3, 4))  # fmt: skip
    assert first.shape == (2, 4)
    assert not np.allclose(first, other)
    untrained = build_encoder("bigru", vectors, SYSTEM.training, 3).eval()
    with torch.no_grad():
        before = untrained(torch.from_numpy(words), torch.from_numpy(lengths)).numpy()
    assert not np.allclose(first, before)


def test_another_data_set_may_have_other_words(weights, files):
    vectors, _ = read_store(files[3].vectors)
    words, lengths = np.array([[0, 1]]), np.array([2])
    fewer = trained_encoder(SYSTEM, vectors[:2], 3, weights)(words, lengths)
    np.testing.assert_array_equal(
        fewer, trained_encoder(SYSTEM, vectors, 3, weights)(words, lengths)
    )


def test_a_corpus_is_encoded_by_the_weights(weights, files):
    corpus = read_table(files[3].corpus, CORPUS)
    first, same, other = (
        sentence_vectors(corpus, SYSTEM, seed, files[3], True, weights) for seed in (3, 3, 4)
    )
    assert first.shape == (2, len(corpus), 4)
    np.testing.assert_array_equal(first, same)
    assert not np.allclose(first, other)


@pytest.mark.parametrize(("seed", "dim"), [(3, 6), (7, 4)])
def test_weights_of_another_encoder_or_seed_are_refused(weights, files, seed, dim):
    vectors, _ = read_store(files[3].vectors)
    other = SYSTEM.model_copy(update={"training": Training(sentence_dim=dim)})
    with pytest.raises(AnalogyQAError, match=rf"{weights}: .* seed {seed}"):
        trained_encoder(other, vectors, seed, weights)


def test_an_encoder_with_its_own_vocabulary_reads_its_word_pieces(files, monkeypatch):
    """As words without vectors, the pieces would all be padding."""
    corpus = read_table(files[3].corpus, CORPUS)
    system = System(title="M", encoder="minilm", ranker="cosine")
    monkeypatch.setattr(
        solve, "trained_encoder", lambda *_: lambda words, lengths: words[:, :2].astype(np.float32)
    )
    encoded = sentence_vectors(
        corpus, system, 3, files[3]._replace(vectors=None), True, weights="w"
    )
    ids, split = vocabulary()
    texts = [*corpus["question"], *corpus["candidate"]]
    expected = [[ids[piece] for piece in split(text)[:2]] for text in texts]
    np.testing.assert_array_equal(encoded.reshape(-1, 2), expected)


def test_a_missing_checkpoint_is_named(files, tmp_path):
    with pytest.raises(AnalogyQAError, match=r"checkpoint of analogy toy comb seed 3 is missing"):
        write_weights(CELL, COMB, SYSTEM, files, True, tmp_path, tmp_path / "weights.pt")
