"""The weights of a trained cell, read from its checkpoints, and the vectors they give."""

import numpy as np
import pytest

from analogyqa.encoders import build_encoder, minilm
from analogyqa.encoders.minilm import vocabulary
from analogyqa.errors import AnalogyQAError
from analogyqa.runs import solve
from analogyqa.runs.finished import trained_encoder, write_inside, write_weights
from analogyqa.runs.solve import sentence_vectors
from analogyqa.runs.train import train_cell
from analogyqa.schemas import CORPUS, INSIDE, SCORES, read_table
from analogyqa.settings.systems import Training
from analogyqa.training import loop
from analogyqa.vectors.store import read_store
from builders import tiny
from builders.cells import toy_job, trained_system

SYSTEM = trained_system(max_epochs=2)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder of a trained cell, beside its checkpoints."""
    return tmp_path_factory.mktemp("cell") / "run"


@pytest.fixture(scope="module")
def job(write_cell_files, folder):
    """The job of the cell, which has two seeds."""
    files = {seed: write_cell_files(folder.parent / "tables", seed) for seed in (3, 4)}
    job = toy_job(SYSTEM, files)
    train_cell(job, "cpu", folder.parent / "checkpoints", folder)
    return job


@pytest.fixture(scope="module")
def weights(job, folder):
    write_weights(job, folder.parent, folder / "weights.pt")
    return folder / "weights.pt"


# Weights


def test_each_seed_has_its_own_trained_weights(weights, job):
    vectors, _ = read_store(job.files[3].vectors)
    words, lengths = np.array([[0, 1, 2], [3, 4, 0]]), np.array([3, 2])
    first, other = (
        trained_encoder(SYSTEM, vectors, seed, weights)(words, lengths) for seed in (3, 4)
    )
    assert first.shape == (2, 4)
    assert not np.allclose(first, other)
    untrained = build_encoder("untrained_bigru", vectors, SYSTEM.training, 3)
    assert not np.allclose(first, untrained(words, lengths))


def test_another_data_set_may_have_other_words(weights, job):
    vectors, _ = read_store(job.files[3].vectors)
    words, lengths = np.array([[0, 1]]), np.array([2])
    fewer, expected = (
        trained_encoder(SYSTEM, word_vectors, 3, weights)(words, lengths)
        for word_vectors in (vectors[:2], vectors)
    )
    np.testing.assert_array_equal(fewer, expected)


def test_a_corpus_is_encoded_by_the_weights(weights, job):
    corpus = read_table(job.files[3].corpus, CORPUS)
    first, same, other = (sentence_vectors(corpus, job, seed, weights) for seed in (3, 3, 4))
    assert first.shape == (2, len(corpus), 4)
    np.testing.assert_array_equal(first, same)
    assert not np.allclose(first, other)


@pytest.mark.parametrize(("seed", "dim"), [(3, 6), (7, 4)])
def test_weights_of_another_encoder_or_seed_are_refused(weights, job, seed, dim):
    vectors, _ = read_store(job.files[3].vectors)
    other = SYSTEM.model_copy(update={"training": Training(sentence_dim=dim)})
    with pytest.raises(AnalogyQAError, match=rf"{weights}: .* seed {seed}"):
        trained_encoder(other, vectors, seed, weights)


def test_an_encoder_with_its_own_vocabulary_reads_its_word_pieces(job, monkeypatch):
    """If they were read as words, the pieces would all be padding."""
    corpus = read_table(job.files[3].corpus, CORPUS)
    pieces = toy_job(trained_system("cosine", "minilm"), {3: job.files[3]._replace(vectors=None)})
    monkeypatch.setattr(
        solve, "trained_encoder", lambda *_: lambda words, lengths: words[:, :2].astype(np.float32)
    )
    encoded = sentence_vectors(corpus, pieces, 3, weights="w")
    ids, split = vocabulary()
    texts = [*corpus["question"], *corpus["candidate"]]
    expected = [[ids[piece] for piece in split(text)[:2]] for text in texts]
    np.testing.assert_array_equal(encoded.reshape(-1, 2), expected)


# Vectors and norms


def job_of_one_seed(job, seed=3, **changed):
    return job._replace(files={seed: job.files[seed]}, **changed)


def write_inside_table(job, folder, name="inside.parquet"):
    write_inside(job, folder.parent, folder / name)
    return folder / name


def test_the_inside_table_is_reproducible_without_training_again(job, folder, monkeypatch):
    monkeypatch.setattr(loop, "train_seed", None)
    first = write_inside_table(job_of_one_seed(job), folder)
    inside = read_table(first, INSIDE)
    scores = read_table(folder / "scores.parquet", SCORES)
    ranked_ids = scores[(scores["seed"] == 3) & (scores["split"] == "test")]["candidate_id"]
    assert inside[inside["kind"] == "candidate"]["id"].tolist() == ranked_ids.tolist()
    again = write_inside_table(job_of_one_seed(job), folder, "again.parquet")
    assert first.read_bytes() == again.read_bytes()
    other_seed = write_inside_table(job_of_one_seed(job, 4), folder)
    assert not inside["norm"].equals(read_table(other_seed, INSIDE)["norm"])


def test_an_encoder_with_its_own_vocabulary_shows_its_word_pieces(
    cell_files, monkeypatch, tmp_path
):
    model = tiny.save_bert(tmp_path / "minilm")
    monkeypatch.setattr(minilm, "_folder", lambda: model)
    system = trained_system("cosine", "minilm", loss="pairwise", max_epochs=1)
    job = toy_job(system, {3: cell_files(3)._replace(vectors=None)})
    train_cell(job, "cpu", tmp_path / "checkpoints", tmp_path / "run")
    inside = read_table(write_inside_table(job, tmp_path / "run"), INSIDE).set_index("kind")
    assert "[CLS]" in set(inside.loc["word", "text"])
    assert inside.loc["question", "words"].iloc[0][0] == "[CLS]"
    assert (inside["norm"] > 0).all()


@pytest.mark.parametrize(
    "changed",
    [{"question_types": ["who"]}, {"lowercase": False}, {"system": trained_system(max_epochs=3)}],
)
def test_a_missing_checkpoint_is_named(job, tmp_path, folder, changed):
    with pytest.raises(AnalogyQAError, match=r"checkpoint of analogy toy comb seed 3 is missing"):
        write_weights(job, tmp_path, tmp_path / "weights.pt")
    message = r"seed 3 is missing.* Delete .*comb/default/run\.json, then"
    with pytest.raises(AnalogyQAError, match=message):
        system = changed.pop("system", job.system)
        other = job_of_one_seed(job, settings=job.settings | changed, system=system)
        write_inside_table(other, folder, "missing.parquet")
    assert not (folder / "missing.parquet").exists()
