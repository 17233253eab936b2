"""What is read from a finished run: weights, the vectors they give, and decisions."""

import numpy as np
import pandas as pd
import pytest

from analogyqa.encoders import build_encoder, minilm
from analogyqa.encoders.minilm import vocabulary
from analogyqa.errors import AnalogyQAError
from analogyqa.runs import solve
from analogyqa.runs.finished import find_decisions, trained_encoder, write_inside, write_weights
from analogyqa.runs.solve import sentence_vectors
from analogyqa.runs.train import train_cell
from analogyqa.schemas import CORPUS, DECISIONS, INSIDE, PROTOTYPES, SCORES, read_table, write_table
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


WORDS, LENGTHS = np.array([[0, 1, 2], [3, 4, 0]]), np.array([3, 2])


def test_each_seed_has_its_own_trained_weights_also_for_other_words(weights, job):
    vectors, _ = read_store(job.files[3].vectors)
    first, fewer = (
        trained_encoder(SYSTEM, known, 3, weights)(WORDS, LENGTHS)
        for known in (vectors, vectors[:5])
    )
    assert first.shape == (2, 4)
    untrained = build_encoder("untrained_bigru", vectors, SYSTEM.training, 3)
    assert not np.allclose(first, untrained(WORDS, LENGTHS))
    np.testing.assert_array_equal(first, fewer)


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


def write_inside_table(job, folder, seed=3, name="inside.parquet", **changed):
    one_seed = job._replace(files={seed: job.files[seed]}, **changed)
    write_inside(one_seed, folder.parent, folder / name)
    return folder / name


def test_the_inside_table_is_reproducible_without_training_again(job, folder, monkeypatch):
    monkeypatch.setattr(loop, "train_seed", None)
    first = write_inside_table(job, folder)
    inside = read_table(first, INSIDE)
    scores = read_table(folder / "scores.parquet", SCORES).query("seed == 3 and split == 'test'")
    candidates = inside[inside["kind"] == "candidate"]
    assert candidates["id"].tolist() == scores["candidate_id"].tolist()
    assert first.read_bytes() == write_inside_table(job, folder, name="again.parquet").read_bytes()
    other_seed = write_inside_table(job, folder, 4)
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


def test_a_missing_checkpoint_is_trained_again(job, folder, tmp_path):
    """As after a run was restored from an archive, which has no weights."""
    again = toy_job(SYSTEM, job.files)
    path = write_inside_table(again, tmp_path / "run")
    assert path.read_bytes() == write_inside_table(job, folder, name="whole.parquet").read_bytes()
    assert len([*(tmp_path / "checkpoints").iterdir()]) == 1  # only that of the first seed


# Decisions


PAIRS = [
    ("train", "t0", "who was it ?", "t0-0", "it was Anna", 1, "who"),
    ("train", "t1", "who sang ?", "t1-0", "Ben did", 1, "who"),
    ("train", "t2", "where is it ?", "t2-0", "in Oslo", 1, "where"),
    ("test", "q0", "who wrote ?", "q0-0", "Carl wrote", 1, "who"),
    ("test", "q0", "who wrote ?", "q0-1", "nobody", 0, "who"),
    ("test", "q0", "who wrote ?", "q0-2", "someone", 0, "who"),
    ("test", "q1", "where was he ?", "q1-0", "at home", 1, "where"),
]


def prototypes(*rows):
    """Return a table of prototypes: rank within the type, type and question id."""
    return pd.DataFrame(
        [(rank, name, question_id, f"{question_id}-0") for rank, name, question_id in rows],
        columns=PROTOTYPES.names,
    )


def scores(seed, *rows):
    """Return scores of test candidates: id, label, score and best prototype."""
    return pd.DataFrame(
        [(seed, "test", name[:2], name, label, score, best) for name, label, score, best in rows],
        columns=SCORES.names,
    )


def test_the_prototype_of_the_first_candidate_decides(tmp_path):
    table = pd.concat([
        scores(0, ("q0-0", 1, 0.5, 1), ("q0-1", 0, 0.25, 0), ("q0-2", 0, -0.5, 0),
               ("q1-0", 1, 0.9, 0)),
        # Equal scores are ranked by descending id.
        scores(1, ("q0-0", 1, 0.125, 0), ("q0-1", 0, 0.5, 0), ("q0-2", 0, 0.5, 1),
               ("q1-0", 1, 0.1, 0)),
    ])  # fmt: skip
    first = prototypes((0, "who", "t0"), (1, "who", "t1"), (0, "where", "t2"))
    second = prototypes((0, "who", "t1"), (1, "who", "t0"), (0, "where", "t2"))
    decisions = find_decisions(
        table, pd.DataFrame(PAIRS, columns=CORPUS.names), {0: first, 1: second}
    )
    write_table(decisions, DECISIONS, tmp_path / "decisions.parquet")
    rows = decisions.set_index(["seed", "question_id"])
    assert rows["candidate_id"].to_dict() == {
        (0, "q0"): "q0-0", (0, "q1"): "q1-0", (1, "q0"): "q0-2", (1, "q1"): "q1-0",
    }  # fmt: skip
    assert rows["label"].tolist() == [1, 1, 0, 1]
    assert rows["prototype_question_id"].tolist() == ["t1", "t2", "t0", "t2"]
    assert rows["margin"].tolist() == pytest.approx(
        [0.25, float("nan"), -0.375, float("nan")], nan_ok=True
    )
    wrong_decision = rows.loc[1, "q0"]
    assert (wrong_decision["candidate"], wrong_decision["correct"]) == ("someone", "Carl wrote")
    assert wrong_decision["prototype_candidate"] == "it was Anna"
