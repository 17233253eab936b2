"""The norms and vectors of the test split and its words, from a trained encoder."""

import numpy as np
import pytest
import torch

from analogyqa.errors import AnalogyQAError
from analogyqa.examples.files import load_cell
from analogyqa.schemas import read_table, write_table
from analogyqa.schemas.inside import INSIDE
from analogyqa.settings.systems import System
from analogyqa.training.inside import look_inside, vector_norms
from analogyqa.training.learner import Learner
from analogyqa.training.loop import train_seed
from analogyqa.vectors.store import read_store

CPU = torch.device("cpu")
TRAINING = {"loss": "mix", "sentence_dim": 4, "max_epochs": 2, "dropout": 0.5}


@pytest.fixture(params=["nbow", "bigru"])
def system(request):
    own = {"encoder": request.param, "vectors": "some", "ranker": "cosine"}
    return System(title="S", **own, training=TRAINING)


@pytest.fixture
def files(cell_files):
    return cell_files(types=None)._replace(prototypes=None, quadruples={})


@pytest.fixture
def data(files):
    return load_cell(files, None, 1, lowercase=True, trains=True)


@pytest.fixture
def vocabulary(files):
    return read_store(files.vectors)[1]


@pytest.fixture
def checkpoint(data, system, tmp_path):
    path = tmp_path / "seed.pt"
    train_seed(data, system, 3, CPU, path, "toy")
    return path


@pytest.fixture
def inside(data, system, checkpoint, vocabulary):
    return look_inside(data, system, 3, checkpoint, vocabulary)


def encoded(data, system, checkpoint, words, lengths):
    """Encode sentences with the weights of the best epoch."""
    learner = Learner(system, data, 0, CPU)
    learner.model.load_state_dict(torch.load(checkpoint)["best"]["last"]["weights"])
    learner.model.eval()
    with torch.no_grad():
        return learner.encoder(torch.tensor(words), torch.tensor(lengths)).numpy()


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


def test_sentences_have_the_words_that_the_encoder_read(inside):
    sentences = inside[inside["kind"] != "word"]
    assert sentences["words"].map(" ".join).tolist() == sentences["text"].tolist()


def test_a_sentence_has_its_vector_and_its_norm(inside, data, system, checkpoint, vocabulary):
    for row in inside[inside["kind"] != "word"][::7].itertuples():
        words = [[vocabulary[word] for word in row.words]]
        (vector,) = encoded(data, system, checkpoint, words, [len(row.words)])
        np.testing.assert_allclose(row.vector, vector, rtol=1e-5, atol=1e-6)
        assert row.norm == pytest.approx(np.linalg.norm(vector), rel=1e-5)


def test_a_word_has_the_norm_of_a_sentence_of_one_word(
    inside, data, system, checkpoint, vocabulary
):
    words = inside[inside["kind"] == "word"]
    ids = [[vocabulary[word]] for word in words["text"]]
    expected = vector_norms(encoded(data, system, checkpoint, ids, [1] * len(ids)))
    np.testing.assert_allclose(words["norm"], expected, rtol=1e-5, atol=1e-7)
    assert words["vector"].map(len).eq(0).all()


def test_the_same_training_run_gives_the_same_bytes(
    inside, data, system, checkpoint, vocabulary, tmp_path
):
    for name, table in (("a", inside), ("b", look_inside(data, system, 3, checkpoint, vocabulary))):
        write_table(table, INSIDE, tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    read = read_table(tmp_path / "a", INSIDE)
    assert read["words"].map(list).tolist() == inside["words"].tolist()
    assert np.array_equal(read["norm"], inside["norm"])
    assert np.array_equal(np.stack(read["vector"][:5]), np.stack(inside["vector"][:5]))


def test_the_weights_are_those_of_the_best_epoch(inside, data, system, checkpoint, vocabulary):
    """A finished training run keeps no other weights."""
    state = torch.load(checkpoint)
    assert not {"model", "optimiser"} & set(state)
    weights = state["best"]["last"]["weights"]
    weights.update({name: 2 * value for name, value in weights.items()})
    torch.save(state, checkpoint)
    again = look_inside(data, system, 3, checkpoint, vocabulary)
    assert not np.isclose(again["norm"], inside["norm"]).all()


def test_a_damaged_checkpoint_is_named(data, system, checkpoint, vocabulary):
    checkpoint.write_bytes(checkpoint.read_bytes()[:100])
    with pytest.raises(AnalogyQAError, match=rf"{checkpoint}: damaged checkpoint"):
        look_inside(data, system, 3, checkpoint, vocabulary)
