"""Norms and vectors of the sentences and words of the test split, by a trained encoder."""

import numpy as np
import pytest
import torch

from analogyqa.schemas import INSIDE
from analogyqa.training.data import load_cell
from analogyqa.training.inside import look_inside, vector_norms
from analogyqa.training.learner import Learner
from analogyqa.training.loop import train_seed
from analogyqa.training.scoring import array_encoder
from analogyqa.vectors.store import read_store
from builders.cells import trained_system

CPU = torch.device("cpu")


@pytest.fixture(scope="module", params=["nbow", "bigru"])
def trained(request, write_cell_files, tmp_path_factory):
    """The arguments of `look_inside` for a trained system."""
    folder = tmp_path_factory.mktemp("tables")
    files = write_cell_files(folder, types=None, p=1).without_prototypes()
    system = trained_system("cosine", request.param, loss="mix", max_epochs=2)
    data = load_cell(files, None, system, lowercase=True)
    train_seed(Learner(system, data, 3, CPU), folder / "seed.pt", "toy")
    return data, system, 3, folder / "seed.pt", read_store(files.vectors)[1]


@pytest.fixture(scope="module")
def inside(trained):
    return look_inside(*trained)


@pytest.fixture
def encode(trained):
    """Encode sentences, each given by its words, with the weights of the best epoch."""
    data, system, _, checkpoint, vocabulary = trained
    learner = Learner(system, data, 0, CPU)
    learner.model.load_state_dict(torch.load(checkpoint)["best"]["last"]["weights"])
    learner.model.eval()

    def encode(words):
        ids = np.array([[vocabulary[word] for word in words]])
        return array_encoder(learner.encoder, CPU)(ids, np.array([len(words)]))[0]

    return encode


def test_there_is_a_row_for_each_question_candidate_and_word(inside, trained):
    pairs = trained[0].splits["test"].pairs
    assert inside.columns.tolist() == INSIDE.names
    rows = dict(list(inside.groupby("kind")))
    assert rows["question"]["id"].tolist() == pairs["question_id"].unique().tolist()
    candidates = rows["candidate"].rename(columns={"id": "candidate_id"})
    for column in ("candidate_id", "label", "question_id"):
        assert candidates[column].tolist() == pairs[column].tolist()
    texts = [*pairs["question"], *pairs["candidate"]]
    assert set(rows["word"]["text"]) == {word for text in texts for word in text.split()}
    assert not rows["word"].duplicated("id").any()
    # Only candidates have a label.
    assert set(rows["question"]["label"]) == set(rows["word"]["label"]) == {-1}


def test_sentences_and_words_have_norms_and_sentences_their_vectors(inside, encode):
    assert inside["words"].map(" ".join).tolist() == inside["text"].tolist()
    is_word = inside["kind"] == "word"
    for row in inside.iloc[[*range(0, (~is_word).sum(), 7), *np.flatnonzero(is_word)]].itertuples():
        vector = encode(row.words)
        expected = [] if row.kind == "word" else vector
        np.testing.assert_allclose(row.vector, expected, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(row.norm, vector_norms(vector[None])[0], rtol=1e-5, atol=1e-7)
