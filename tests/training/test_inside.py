"""Norms and vectors of the sentences and words of the test split, by a trained encoder."""

import numpy as np
import pytest
import torch

from analogyqa.rankers import Encoded, build_ranker
from analogyqa.schemas import INSIDE
from analogyqa.training.data import load_cell
from analogyqa.training.explanation import principal_components, prototype_scores
from analogyqa.training.inside import look_inside, vector_norms
from analogyqa.training.learner import Learner
from analogyqa.training.loop import train_seed
from analogyqa.training.scoring import array_encoder
from analogyqa.vectors.store import read_store
from builders.cells import trained_system, untrained_system

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


# Scores by prototype, and principal components


@pytest.mark.parametrize("compare", ["cosine", "distance"])
def test_a_score_is_the_maximum_over_single_prototypes(compare):
    generator = np.random.default_rng(0)
    sides = [generator.normal(size=(rows, 4)).astype(np.float32) for rows in (5, 5, 3, 3)]
    pairs, prototypes = np.indices((5, 3)).reshape(2, -1)
    encoded = Encoded(np.zeros(5, dtype=int), *sides, prototypes, pairs)
    options = {"name": "analogy", "compare": compare}
    ranker = build_ranker(untrained_system(options))
    scores, best = ranker.scores(encoded)
    by_prototype = prototype_scores(ranker, encoded)
    np.testing.assert_allclose(by_prototype.max(axis=1), scores, rtol=1e-6)
    assert by_prototype.argmax(axis=1).tolist() == best.tolist()


def test_two_components_keep_a_plane_and_report_their_shares_of_the_variance():
    generator = np.random.default_rng(0)
    plane, axes = generator.normal(size=(20, 2)), generator.normal(size=(2, 7))
    points, shares = principal_components(plane @ axes)
    assert sum(shares) == pytest.approx(1)
    distances = [np.linalg.norm(rows - rows[:1], axis=1) for rows in (points, plane @ axes)]
    np.testing.assert_allclose(*distances)
    _, shares = principal_components(np.eye(4))
    assert shares == pytest.approx((1 / 3, 1 / 3))
    assert principal_components(np.ones((3, 4)))[1] == (0, 0)
