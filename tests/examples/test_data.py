"""The data of a cell: which sentences it holds, and what they look up."""

import numpy as np
import pandas as pd
import pytest

from analogyqa.errors import AnalogyQAError
from analogyqa.examples.data import ranked_sentences, training_sentences
from analogyqa.examples.files import load_cell
from analogyqa.pretrained import Resources, encode_sentences
from analogyqa.schemas import CORPUS, write_table
from analogyqa.settings.systems import Model, Training
from analogyqa.training.scoring import score_untrained
from analogyqa.vectors.store import read_store, write_store

ANALOGY = Model(title="S", sentence_vectors="means", ranker="analogy")


@pytest.fixture
def untrained(cell_files):
    """The tables of a cell that is not trained."""

    def untrained(**changes):
        files = cell_files()
        evaluated = {split: files.quadruples[split] for split in ("dev", "test")}
        return files._replace(quadruples=evaluated, **changes)

    return untrained


@pytest.fixture
def store(tmp_path):
    """Write a store of sentence vectors, all different, and return its path."""

    def write(sentences):
        path = tmp_path / "sentences.npy"
        vectors = np.random.default_rng(0).normal(size=(len(sentences), 4)).astype(np.float32)
        write_store(vectors, np.ones(len(sentences), bool), sentences, "toy", path)
        return str(path)

    return write


# Which sentences


def test_ranking_reads_dev_and_test_and_the_correct_pairs_of_train(make_corpus):
    corpus = make_corpus(
        [
            ("train", "who is first ?", [("right", 1), ("wrong in train", 0)]),
            ("dev", "when was it ?", [("in 1901", 1), ("wrong in dev", 0)]),
            ("test", "where is it ?", [("right", 1)]),
            ("test", "what is it ?", [("of no type", 1)]),
            ("train", "who is never found ?", [("no correct one", 0)]),
        ]
    )
    assert sorted(ranked_sentences(corpus)) == sorted(
        ["who is first ?", "right", "when was it ?", "in 1901", "wrong in dev", "where is it ?"]
    )


def test_no_sentence_is_ranked_twice(corpus):
    sentences = ranked_sentences(corpus)
    assert len(set(sentences)) == len(sentences)


def test_the_training_sentences_are_all_those_of_train_once(corpus):
    train = corpus[corpus["split"] == "train"]
    sentences = training_sentences(corpus)
    assert len(set(sentences)) == len(sentences)
    assert set(sentences) == {*train["question"], *train["candidate"]}


# What a cell holds


def test_the_train_split_of_an_untrained_cell_is_its_prototypes(untrained):
    files = untrained()
    data = load_cell(files, "comb", 3, lowercase=True)
    chosen = pd.read_parquet(files.prototypes).query("rank < 3")
    pairs = data.splits["train"].pairs
    assert sorted(pairs["candidate_id"]) == sorted(chosen["candidate_id"])
    assert pairs.index.tolist() == list(range(9))


def test_the_train_split_of_an_untrained_cell_without_prototypes_is_empty(untrained):
    files = untrained(prototypes=None)._replace(quadruples={})
    data = load_cell(files, "comb", 0, lowercase=True)
    assert data.splits["train"].pairs.empty
    assert len(data.splits["dev"].pairs)


def test_a_trained_cell_keeps_every_training_pair(cell, corpus):
    typed = corpus[(corpus["split"] == "train") & corpus["question_type"].notna()]
    assert len(cell.splits["train"].pairs) == len(typed)


# A store of sentence vectors


def test_a_sentence_looks_up_its_own_vector(untrained, store, corpus):
    path = store(ranked_sentences(corpus))
    data = load_cell(untrained(vectors=None, sentence_vectors=path), "comb", 3, lowercase=True)
    vectors, rows = read_store(path)
    for text, number in data.sentences.index.items():
        words, lengths = data.sentences.batch(np.array([number]))
        assert lengths.tolist() == [1]
        np.testing.assert_array_equal(data.word_vectors[words[0, 0]], vectors[rows[text]])


def test_sentences_keep_their_case_and_white_space(untrained, store, make_corpus):
    questions = [
        (split, f"Who  Is {split}\r ?", [(f"The  {split}", 1), ("a\u2028b", 0)])
        for split in ("train", "dev", "test")
    ]
    corpus = make_corpus(questions)
    files = untrained(
        vectors=None, prototypes=None, sentence_vectors=store(ranked_sentences(corpus))
    )
    write_table(corpus, CORPUS, files.corpus)
    data = load_cell(files._replace(quadruples={}), "who", 0, lowercase=True)
    assert set(data.sentences.index) == {
        f"{start}{split}{end}"
        for split in ("dev", "test")
        for start, end in (("Who  Is ", "\r ?"), ("The  ", ""))
    } | {"a\u2028b"}


def test_a_store_of_another_corpus_does_not_fit(untrained, store, corpus):
    path = store(ranked_sentences(corpus)[1:])
    with pytest.raises(AnalogyQAError, match=r"sentences\.npy.*These files do not fit each other"):
        load_cell(untrained(vectors=None, sentence_vectors=path), "comb", 3, lowercase=True)


def test_the_files_of_a_cell_are_named_by_what_they_are(untrained):
    named = untrained(vectors=None, sentence_vectors="s.npy").named()
    assert set(named) == {
        "corpus",
        "sentence vectors",
        "prototypes",
        "quadruples dev",
        "quadruples test",
    }


def test_stored_means_of_words_score_as_the_encoder_of_means_does(untrained, corpus, tmp_path):
    files = untrained()
    words = tmp_path / "words.vec"
    vectors, rows = read_store(files.vectors)
    lines = [f"{word} {' '.join(map(repr, vectors[row].tolist()))}" for word, row in rows.items()]
    words.write_text("\n".join(lines) + "\n")
    sentences = ranked_sentences(corpus)
    encoded = encode_sentences("sent2vec", sentences, Resources(str(words), None, [], True))
    path = str(tmp_path / "means.npy")
    write_store(encoded, np.ones(len(sentences), bool), sentences, "means", path)
    by_words = load_cell(files, "comb", 3, lowercase=True)
    by_sentence = load_cell(files._replace(sentence_vectors=path, vectors=None), "comb", 3, True)
    mean = Model(title="M", encoder="mean", vectors="some", ranker="analogy")
    expected = score_untrained(by_words, mean, Training(), seed=0)
    scores = score_untrained(by_sentence, ANALOGY, Training(), seed=0)
    np.testing.assert_allclose(scores["score"], expected["score"], atol=1e-5)
    assert scores["best_prototype"].tolist() == expected["best_prototype"].tolist()
