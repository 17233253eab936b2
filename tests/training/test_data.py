"""The data of a cell: which sentences it holds, and what they look up."""

import numpy as np
import pandas as pd
import pytest

from analogyqa.corpora.questions import OTHER, fold_corpus
from analogyqa.errors import AnalogyQAError
from analogyqa.schemas import CORPUS, write_table
from analogyqa.settings.systems import System
from analogyqa.training.data import load_cell, ranked_sentences, training_sentences
from analogyqa.vectors.store import write_store
from builders.cells import COMB, trained_system, untrained_system

STORED = System(title="S", sentence_vectors="means", ranker="analogy", p=3)


@pytest.fixture
def untrained(cell_files, tmp_path):
    """Write the tables of a cell that is not trained, with vectors for some sentences, if any."""

    def untrained(sentences=(), **changes):
        files = cell_files(**changes)
        evaluated = {split: files.quadruples[split] for split in ("dev", "test")}
        files = files._replace(quadruples=evaluated)
        if not sentences:
            return files
        vectors = np.random.default_rng(0).normal(size=(len(sentences), 4)).astype(np.float32)
        path = tmp_path / "sentences.npy"
        write_store(vectors, np.ones(len(sentences), bool), sentences, "toy", path)
        return files._replace(vectors=None, sentence_vectors=str(path))

    return untrained


# Which sentences


def test_ranked_sentences_are_those_of_prototypes_and_evaluated_pairs(make_corpus):
    corpus = make_corpus(
        [
            ("train", "who is first ?", [("right", 1), ("wrong in train", 0)]),
            ("dev", "when was it ?", [("in 1901", 1), ("wrong in dev", 0)]),
            ("test", "where is it ?", [("right", 1)]),
            ("test", "what is it ?", [("of no type", 1)]),
            ("train", "who is never found ?", [("no correct one", 0)]),
        ]
    )
    typed = {"who is first ?", "right", "when was it ?", "in 1901", "wrong in dev", "where is it ?"}
    assert sorted(ranked_sentences(corpus, typed_only=True)) == sorted(typed)
    all_sentences = {*typed, "what is it ?", "of no type"}
    assert sorted(ranked_sentences(corpus, typed_only=False)) == sorted(all_sentences)


@pytest.mark.parametrize("partition", [0, 1])
def test_all_sentences_of_a_data_set_include_those_that_its_folds_rank(corpus, partition):
    """As `encode_sentences` selects them for all folds at once."""
    corpus = corpus.assign(candidate=corpus["candidate_id"])  # no two candidates are equal
    shared = {*ranked_sentences(corpus.assign(label=1), typed_only=True)}
    folds = [fold_corpus(corpus, number, 3, partition) for number in (1, 2, 3)]
    ranked = [{*ranked_sentences(fold, typed_only=True)} for fold in folds]
    assert all(sentences <= shared for sentences in ranked)
    assert set.union(*ranked) == shared
    assert not ranked[0] <= {*ranked_sentences(corpus, typed_only=True)}


def test_training_sentences_are_all_sentences_of_the_training_split(corpus):
    train = corpus[corpus["split"] == "train"]
    sentences = training_sentences(corpus)
    assert len(set(sentences)) == len(sentences)
    assert set(sentences) == {*train["question"], *train["candidate"]}


# What a cell holds


@pytest.mark.parametrize(("types", "p", "count"), [(COMB, 3, 9), (None, 1, 4)])
def test_an_untrained_cell_loads_only_prototypes(untrained, types, p, count):
    files = untrained(types=types, p=p)
    data = load_cell(files, types, untrained_system(p=p), lowercase=True)
    chosen = pd.read_parquet(files.prototypes).query(f"rank < {p}")
    pairs = data.splits["train"].pairs
    assert sorted(pairs["candidate_id"]) == sorted(chosen["candidate_id"])
    assert pairs.index.tolist() == list(range(count))
    bare = load_cell(files.without_prototypes(), types, untrained_system("cosine"), lowercase=True)
    assert bare.splits["train"].pairs.empty and len(bare.splits["dev"].pairs)


@pytest.mark.parametrize(("types", "p", "count"), [(COMB, 3, 60), (None, 1, 61)])
def test_a_trained_cell_loads_all_training_pairs(cell_files, types, p, count):
    data = load_cell(cell_files(types=types, p=p), types, trained_system(p=p), lowercase=True)
    assert len(data.splits["train"].pairs) == count
    groups = data.splits["dev"].groups
    assert set(groups.values()) == {*COMB, *([OTHER] if types is None else [])}
    assert len(groups) == data.splits["dev"].pairs["question_id"].nunique()


# A store of sentence vectors


def test_sentence_vectors_keep_case_and_white_space(untrained, make_corpus):
    questions = [
        (split, f"Who  Is {split}\r ?", [(f"The  {split}", 1), ("a\u2028b", 0)])
        for split in ("train", "dev", "test")
    ]
    corpus = make_corpus(questions)
    files = untrained(ranked_sentences(corpus, True))
    write_table(corpus, CORPUS, files.corpus)
    data = load_cell(files.without_prototypes(), ["who"], STORED, lowercase=True)
    assert set(data.sentences.index) == {
        f"{start}{split}{end}"
        for split in ("dev", "test")
        for start, end in (("Who  Is ", "\r ?"), ("The  ", ""))
    } | {"a\u2028b"}


@pytest.mark.parametrize("types", [COMB, None])
def test_a_store_of_other_sentences_is_an_error(untrained, corpus, types):
    sentences = ranked_sentences(corpus, typed_only=True)[types is not None :]
    files, system = untrained(sentences, types=types, p=1), STORED.model_copy(update={"p": 1})
    with pytest.raises(AnalogyQAError, match=r"sentences\.npy.*These files do not fit each other"):
        load_cell(files, types, system, lowercase=True)


def test_prototypes_may_exchange_answers_within_their_type(cell_files):
    files = cell_files(p=3)
    rankers = ({"name": "analogy", "prototype_answers": answers} for answers in ("own", "others"))
    own, others = (load_cell(files, COMB, trained_system(ranker), True) for ranker in rankers)
    assert (others.prototype_questions == own.prototype_questions).all()
    by_type = (data.prototype_candidates.reshape(3, 3) for data in (own, others))
    for before, after in zip(*by_type, strict=True):
        assert sorted(after) == sorted(before) and (after != before).all()


def test_questions_may_meet_the_prototypes_of_another_type(cell_files):
    files, system = cell_files(choice="other_type"), trained_system("analogy_of_other_type")
    data = load_cell(files, COMB, system, lowercase=True)
    first = np.array([text.split()[0] for text in data.sentences.index])
    for split in data.splits.values():
        asked = first[split.questions[split.rows]]
        known = first[data.prototype_questions[split.prototypes]]
        assert {*zip(asked, known, strict=True)} == {*zip(COMB, [*COMB[1:], COMB[0]], strict=True)}
