"""Scores of a split do not depend on how its sentences are batched."""

import numpy as np
import pandas as pd
import pytest
import torch

from analogyqa.encoders import build_encoder
from analogyqa.errors import AnalogyQAError
from analogyqa.examples.data import ranked_sentences
from analogyqa.examples.files import load_cell
from analogyqa.runs.score import score_bm25
from analogyqa.schemas import CORPUS, QUADRUPLES, SCORES, read_table, write_table
from analogyqa.settings.systems import Model, Training
from analogyqa.training import scoring
from analogyqa.training.loop import arrays_of
from analogyqa.training.scoring import encode_all, score_split, score_untrained
from analogyqa.vectors.store import write_store

CPU = torch.device("cpu")
torch.set_num_threads(1)  # the tensors are tiny: more threads wait for each other
TRAINING = Training(sentence_dim=4)


def model(encoder="bigru", ranker="analogy", aggregate="max"):
    vectors = None if encoder == "random" else "some"
    return Model(title="M", encoder=encoder, vectors=vectors, ranker=ranker, aggregate=aggregate)


@pytest.fixture
def encoder(cell):
    return arrays_of(build_encoder("bigru", cell.word_vectors, TRAINING, seed=0).eval(), CPU)


def one(encoder, data, text):
    """Encode a sentence by itself: [dim]."""
    return encoder(*data.sentences.batch(data.sentences.numbers([text])))[0]


def cosine(first, second):
    first, second = np.asarray(first), np.asarray(second)
    return first @ second / (np.linalg.norm(first) * np.linalg.norm(second))


@pytest.mark.parametrize("batch", [1, 3, 7, 256])
@pytest.mark.parametrize("ranker", ["analogy", "cosine"])
def test_scores_do_not_depend_on_the_batch_size(cell, encoder, monkeypatch, batch, ranker):
    expected, best = score_split(encoder, cell, "dev", model(ranker=ranker))
    monkeypatch.setattr(scoring, "ENCODE_BATCH", batch)
    scores, again = score_split(encoder, cell, "dev", model(ranker=ranker))
    np.testing.assert_allclose(scores, expected, atol=1e-6)
    np.testing.assert_array_equal(again, best)


@pytest.mark.parametrize("aggregate", ["max", "mean"])
def test_analogy_scores_equal_those_of_one_pair_at_a_time(cell, cell_files, encoder, aggregate):
    scores, _ = score_split(encoder, cell, "test", model(aggregate=aggregate))
    files = cell_files()
    prototypes = pd.read_parquet(files.prototypes).query("rank < 3")
    corpus = pd.read_parquet(files.corpus).set_index("candidate_id")
    for score, pair in zip(scores, cell.splits["test"].pairs.itertuples(), strict=True):
        shift = one(encoder, cell, pair.question) - one(encoder, cell, pair.candidate)
        own = prototypes.loc[prototypes["question_type"] == pair.question_type, "candidate_id"]
        energies = [
            cosine(one(encoder, cell, row.question) - one(encoder, cell, row.candidate), shift)
            for row in corpus.loc[own].itertuples()
        ]
        assert len(energies) == 3
        expected = max(energies) if aggregate == "max" else sum(energies) / 3
        assert score == pytest.approx(expected, abs=1e-6)


def test_cosine_scores_equal_those_of_one_pair_at_a_time(cell, encoder):
    scores, best = score_split(encoder, cell, "test", model(ranker="cosine"))
    for score, pair in zip(scores, cell.splits["test"].pairs.itertuples(), strict=True):
        expected = cosine(one(encoder, cell, pair.question), one(encoder, cell, pair.candidate))
        assert score == pytest.approx(expected, abs=1e-6)
    assert set(best) == {-1}


def test_the_best_prototype_is_a_rank_within_the_type(cell, encoder):
    _, best = score_split(encoder, cell, "test", model())
    assert set(best) <= {0, 1, 2}


def test_a_sentence_is_encoded_once(cell, encoder):
    seen = []

    def counted(words, lengths):
        seen.extend(lengths)
        return encoder(words, lengths)

    vectors = encode_all(counted, cell.sentences, np.array([3, 1, 3, 3, 0]))
    assert sorted(seen) == sorted(cell.sentences.lengths[[0, 1, 3]])
    np.testing.assert_array_equal(vectors[0], vectors[2])


def test_vectors_come_back_in_the_order_that_was_asked_for(cell, encoder):
    numbers = np.random.default_rng(0).permutation(len(cell.sentences))
    vectors = encode_all(encoder, cell.sentences, numbers)
    texts = list(cell.sentences.index)
    for number, vector in zip(numbers, vectors, strict=True):
        np.testing.assert_allclose(vector, one(encoder, cell, texts[number]), atol=1e-6)


@pytest.mark.parametrize(
    ("encoder_name", "ranker"), [("random", "cosine"), ("mean", "analogy"), ("mean", "cosine")]
)
def test_an_untrained_model_scores_dev_and_test(cell, tmp_path, encoder_name, ranker):
    system = model(encoder_name, ranker)
    first, again = (score_untrained(cell, system, TRAINING, seed=3) for _ in range(2))
    pd.testing.assert_frame_equal(first, again)
    write_table(first, SCORES, tmp_path / "scores.parquet")
    assert set(first["seed"]) == {3}
    assert len(first) == len(cell.splits["dev"].pairs) + len(cell.splits["test"].pairs)
    assert np.isfinite(first["score"]).all()


def test_the_random_order_differs_by_seed(cell):
    system = model("random", "cosine")
    first, second = (score_untrained(cell, system, TRAINING, seed) for seed in (0, 1))
    assert not first["score"].equals(second["score"])


# Sentence vectors


STORED = {
    ranker: Model(title="S", sentence_vectors="means", ranker=ranker)
    for ranker in ("analogy", "cosine")
}


@pytest.fixture
def stored(cell_files, corpus):
    """A cell on a store of sentence vectors, and the vector of each sentence."""
    files = cell_files()
    sentences = ranked_sentences(corpus)
    vectors = np.random.default_rng(2).normal(size=(len(sentences), 5)).astype(np.float32)
    path = files.vectors.replace("vectors.npy", "sentences.npy")
    write_store(vectors, np.ones(len(sentences), bool), sentences, "toy", path)
    evaluated = {split: files.quadruples[split] for split in ("dev", "test")}
    files = files._replace(vectors=None, sentence_vectors=path, quadruples=evaluated)
    data = load_cell(files, "comb", 3, lowercase=True)
    return files, data, dict(zip(sentences, torch.from_numpy(vectors), strict=True))


def test_sentence_vectors_are_compared_by_cosine(stored):
    _, data, vectors = stored
    scores = score_untrained(data, STORED["cosine"], TRAINING, seed=0)
    pairs = pd.concat([data.splits[split].pairs for split in ("dev", "test")])
    expected = [
        cosine(vectors[pair.question], vectors[pair.candidate]) for pair in pairs.itertuples()
    ]
    np.testing.assert_allclose(scores["score"], expected, atol=1e-6)


def test_sentence_vectors_are_compared_by_analogy_with_prototypes(stored, corpus):
    files, data, vectors = stored
    scores = score_untrained(data, STORED["analogy"], TRAINING, seed=0)
    prototypes = pd.read_parquet(files.prototypes).query("rank < 3")
    texts = corpus.set_index("candidate_id")
    pairs = pd.concat([data.splits[split].pairs for split in ("dev", "test")])
    for score, pair in zip(scores["score"], pairs.itertuples(), strict=True):
        shift = vectors[pair.question] - vectors[pair.candidate]
        own = prototypes.loc[prototypes["question_type"] == pair.question_type, "candidate_id"]
        expected = max(
            cosine(vectors[row.question] - vectors[row.candidate], shift)
            for row in texts.loc[own].itertuples()
        )
        assert score == pytest.approx(expected, abs=1e-6)


def test_sentence_vectors_do_not_depend_on_the_seed(stored):
    _, data, _ = stored
    scores = [score_untrained(data, STORED["cosine"], TRAINING, seed)["score"] for seed in (0, 1)]
    assert scores[0].equals(scores[1])


# BM25


def test_bm25_scores_are_a_table_of_dev_and_test(corpus, tmp_path):
    scores = score_bm25(corpus, "comb", lowercase=True).assign(seed=0)
    write_table(scores, SCORES, tmp_path / "scores.parquet")
    typed = corpus[corpus["question_type"].notna() & (corpus["split"] != "train")]
    assert sorted(scores["candidate_id"]) == sorted(typed["candidate_id"])
    assert set(scores["best_prototype"]) == {-1}
    assert np.isfinite(scores["score"]).all()


def test_bm25_ranks_a_candidate_that_shares_a_rare_word_first(make_corpus):
    candidates = [("the engine number 7", 0), ("the quartz number 7", 1), ("the pile number 7", 0)]
    questions = [("dev", "who has the quartz ?", candidates), ("test", "who is ?", [("a", 1)])]
    scores = score_bm25(make_corpus(questions), "who", lowercase=True)
    own = scores[scores["split"] == "dev"].set_index("candidate_id")["score"]
    assert own.idxmax() == "q0-1"


def test_what_is_rare_is_counted_over_all_candidates_of_the_corpus(make_corpus):
    dev = ("dev", "who has quartz or radium ?", [("some quartz", 1), ("some radium", 0)])
    train = ("train", "what ?", [(f"quartz {number}", 0) for number in range(9)])
    scores = score_bm25(make_corpus([dev, train]), "who", lowercase=True)["score"]
    assert scores[1] > scores[0]


def test_the_subset_of_bm25_holds_its_questions_with_the_scores_of_comb(corpus):
    comb, who = (
        score_bm25(corpus, subset, lowercase=True).set_index("candidate_id")["score"]
        for subset in ("comb", "who")
    )
    assert 0 < len(who) < len(comb)
    assert who.equals(comb[who.index])


# Tables of a cell that do not fit


def test_tables_of_different_corpora_do_not_fit(cell_files):
    files = cell_files()
    path = files.quadruples["test"]
    table = read_table(path, QUADRUPLES)
    other = table["candidate_id"].cat.rename_categories(lambda name: f"other-{name}")
    write_table(table.assign(candidate_id=other), QUADRUPLES, path)
    with pytest.raises(AnalogyQAError, match=r"test0\.parquet"):
        load_cell(files, "comb", 3, lowercase=True)


def test_quadruples_of_more_prototypes_do_not_fit(cell_files):
    with pytest.raises(AnalogyQAError, match=r"\d\.parquet"):
        load_cell(cell_files(p=4), "comb", 3, lowercase=True)


def test_vectors_of_another_corpus_do_not_fit(cell_files):
    files = cell_files()
    write_store(np.ones((1, 8), np.float32), np.ones(1, bool), ["some"], "toy", files.vectors)
    with pytest.raises(AnalogyQAError, match="not in the word vectors"):
        load_cell(files, "comb", 3, lowercase=True)


def test_a_split_without_questions_of_the_subset_is_named(cell_files, corpus):
    files = cell_files()._replace(vectors=None, prototypes=None, quadruples={})
    gone = (corpus["split"] == "dev") & (corpus["question_type"] == "who")
    write_table(corpus[~gone], CORPUS, files.corpus)
    with pytest.raises(AnalogyQAError, match=r"corpus\.parquet: .*who.*dev"):
        load_cell(files, "who", 0, lowercase=True)
