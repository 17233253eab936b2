"""Norms and vectors of the sentences and words of the test split, by a trained encoder."""

import numpy as np
import pytest
import torch

from analogyqa.schemas import INSIDE
from analogyqa.training.data import load_cell
from analogyqa.training.inside import look_inside, vector_norms
from analogyqa.training.learner import Learner
from analogyqa.training.loop import train_seed
from analogyqa.vectors.store import read_store
from builders.cells import trained_system

CPU = torch.device("cpu")


@pytest.fixture(scope="module", params=["nbow", "bigru"])
def system(request):
    return trained_system("cosine", request.param, loss="mix", max_epochs=2)


@pytest.fixture(scope="module")
def files(write_cell_files, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    return write_cell_files(folder, types=None, p=1).without_prototypes()


@pytest.fixture(scope="module")
def data(files, system):
    return load_cell(files, None, system, lowercase=True)


@pytest.fixture(scope="module")
def vocabulary(files):
    return read_store(files.vectors)[1]


@pytest.fixture(scope="module")
def checkpoint(data, system, tmp_path_factory):
    path = tmp_path_factory.mktemp("checkpoints") / "seed.pt"
    train_seed(Learner(system, data, 3, CPU), path, "toy")
    return path


@pytest.fixture(scope="module")
def inside(data, system, checkpoint, vocabulary):
    return look_inside(data, system, 3, checkpoint, vocabulary)


@pytest.fixture
def encoded(data, system, checkpoint):
    """Encode sentences with the weights of the best epoch."""
    learner = Learner(system, data, 0, CPU)
    learner.model.load_state_dict(torch.load(checkpoint)["best"]["last"]["weights"])
    learner.model.eval()

    @torch.no_grad()
    def encoded(words, lengths):
        return learner.encoder(torch.tensor(words), torch.tensor(lengths)).numpy()

    return encoded


def test_there_is_a_row_for_each_question_candidate_and_word(inside, data):
    pairs = data.splits["test"].pairs
    assert inside.columns.tolist() == INSIDE.names
    rows = dict(list(inside.groupby("kind")))
    assert rows["question"]["id"].tolist() == pairs["question_id"].unique().tolist()
    assert rows["candidate"]["id"].tolist() == pairs["candidate_id"].tolist()
    assert rows["candidate"]["label"].tolist() == pairs["label"].tolist()
    assert rows["candidate"]["question_id"].tolist() == pairs["question_id"].tolist()
    texts = [*pairs["question"], *pairs["candidate"]]
    assert set(rows["word"]["text"]) == {word for text in texts for word in text.split()}
    assert not rows["word"].duplicated("id").any()
    # Only candidates have a label.
    assert set(rows["question"]["label"]) == set(rows["word"]["label"]) == {-1}


def test_a_sentence_has_its_words_its_vector_and_its_norm(inside, encoded, vocabulary):
    sentences = inside[inside["kind"] != "word"]
    assert sentences["words"].map(" ".join).tolist() == sentences["text"].tolist()
    for row in sentences[::7].itertuples():
        (vector,) = encoded([[vocabulary[word] for word in row.words]], [len(row.words)])
        np.testing.assert_allclose(row.vector, vector, rtol=1e-5, atol=1e-6)
        assert row.norm == pytest.approx(np.linalg.norm(vector), rel=1e-5)


def test_a_word_has_the_norm_of_a_one_word_sentence(inside, encoded, vocabulary):
    words = inside[inside["kind"] == "word"]
    ids = [[vocabulary[word]] for word in words["text"]]
    expected = vector_norms(encoded(ids, [1] * len(ids)))
    np.testing.assert_allclose(words["norm"], expected, rtol=1e-5, atol=1e-7)
    assert words["vector"].map(len).eq(0).all()


def test_the_weights_are_those_of_the_best_epoch(
    inside, data, system, checkpoint, vocabulary, tmp_path
):
    """A finished training run keeps no other weights."""
    state = torch.load(checkpoint)
    assert not {"model", "optimiser"} & set(state)
    weights = state["best"]["last"]["weights"]
    weights.update({name: 2 * value for name, value in weights.items()})
    torch.save(state, tmp_path / "doubled.pt")
    doubled = look_inside(data, system, 3, tmp_path / "doubled.pt", vocabulary)
    assert not np.isclose(doubled["norm"], inside["norm"]).all()
