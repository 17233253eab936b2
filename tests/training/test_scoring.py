"""Scores of a split do not depend on how its sentences are batched."""

from collections import Counter
from functools import cache, partial

import numpy as np
import pandas as pd
import pytest
import torch

from analogyqa.encoders import build_encoder
from analogyqa.errors import AnalogyQAError
from analogyqa.rankers import Quadruples, build_ranker
from analogyqa.rankers.mapped import MappedRanker
from analogyqa.runs.score import score_text
from analogyqa.schemas import CORPUS, PROTOTYPES, QUADRUPLES, SPLITS, read_table, write_table
from analogyqa.settings.systems import System, Training
from analogyqa.text import tokenize
from analogyqa.training import scoring
from analogyqa.training.data import load_cell, load_pairs, ranked_sentences
from analogyqa.training.learner import Learner
from analogyqa.training.loop import score_learner
from analogyqa.training.scoring import array_encoder, encode_all, score_split, score_untrained
from analogyqa.vectors.frequencies import A
from analogyqa.vectors.store import read_store, write_store
from builders.cells import COMB, trained_system, untrained_system

CPU = torch.device("cpu")
torch.set_num_threads(1)  # the tensors are tiny: more threads wait for each other
TRAINING = Training(sentence_dim=4)


def ranker(name="analogy", **options):
    return build_ranker(untrained_system({"name": name, **options}))


@pytest.fixture
def encoder(cell):
    return array_encoder(build_encoder("bigru", cell.word_vectors, TRAINING, seed=0).eval(), CPU)


def encode_alone(encoder, data, text):
    """Encode a sentence by itself: [dim]."""
    return encoder(*data.sentences.batch(data.sentences.numbers([text])))[0]


@pytest.fixture
def load(cell_files):
    """Load a system without prototypes."""

    def load(system, types=COMB, **files):
        tables = cell_files().without_prototypes()._replace(**files)
        return load_cell(tables, types, system, lowercase=True)

    return load


def cosine(first, second):
    first, second = np.asarray(first), np.asarray(second)
    return first @ second / (np.linalg.norm(first) * np.linalg.norm(second))


@pytest.mark.parametrize("batch", [1, 3, 7, 20])
def test_scores_do_not_depend_on_the_batch_size(cell, encoder, monkeypatch, batch):
    expected, best = score_split(encoder, cell, "dev", ranker("analogy"))
    monkeypatch.setattr(scoring, "ENCODE_BATCH", batch)
    scores, again = score_split(encoder, cell, "dev", ranker("analogy"))
    np.testing.assert_allclose(scores, expected, atol=1e-6)
    np.testing.assert_array_equal(again, best)


def find_energies(files, pairs, find_vector, p):
    """Yield the energies of a pair with each prototype of its type, one at a time, by rank."""
    prototypes = read_table(files.prototypes, PROTOTYPES).query(f"rank < {p}")
    texts = read_table(files.corpus, CORPUS).set_index("candidate_id")
    for pair in pairs.itertuples():
        is_of_type = prototypes["question_type"] == pair.question_type
        shift = find_vector(pair.question) - find_vector(pair.candidate)
        yield [
            cosine(find_vector(row.question) - find_vector(row.candidate), shift)
            for row in texts.loc[prototypes.loc[is_of_type, "candidate_id"]].itertuples()
        ]


@pytest.mark.parametrize(
    ("types", "p", "aggregate"), [(COMB, 3, "max"), (COMB, 3, "mean"), (None, 1, "max")]
)
def test_analogy_scores_match_scoring_one_pair_at_a_time(cell_files, types, p, aggregate):
    files = cell_files(types=types, p=p)
    data = load_cell(files, types, trained_system(p=p), lowercase=True)
    encoder = array_encoder(build_encoder("bigru", data.word_vectors, TRAINING, seed=0).eval(), CPU)
    scores, best = score_split(encoder, data, "test", ranker(aggregate=aggregate))
    pairs = data.splits["test"].pairs
    assert set(pairs["question_type"]) == {*COMB, *(["other"] if types is None else [])}
    expected = find_energies(files, pairs, cache(partial(encode_alone, encoder, data)), p)
    for score, rank, energies in zip(scores, best, expected, strict=True):
        assert len(energies) == p
        aggregated = max(energies) if aggregate == "max" else sum(energies) / p
        assert score == pytest.approx(aggregated, abs=1e-6)
        assert energies[rank] == pytest.approx(max(energies), abs=1e-6)


@torch.no_grad()
def test_a_trained_ranker_scores_each_pair_independently(cell):
    learner = Learner(trained_system("scaled_cosine", loss="pairwise"), cell, 0, CPU)
    scores, best = score_learner(learner, "test")
    none = torch.zeros(0, dtype=torch.long)
    for score, pair in zip(scores, cell.splits["test"].pairs.itertuples(), strict=True):
        texts = [[pair.question], [pair.candidate]]
        vectors = torch.cat([learner.encode(cell.sentences.numbers(text)) for text in texts])
        pairs = Quadruples(vectors, none, none, *torch.arange(2).split(1))
        assert score == pytest.approx(learner.ranker.energies(pairs)[0].item(), abs=1e-6)
    assert set(best) == {-1} and scores.std() > 0


def test_a_sentence_is_encoded_once(cell, encoder):
    encoded_lengths = []

    def counted(words, lengths):
        encoded_lengths.extend(lengths)
        return encoder(words, lengths)

    vectors = encode_all(counted, cell.sentences, np.array([3, 1, 3, 3, 0]))
    assert sorted(encoded_lengths) == sorted(cell.sentences.lengths[[0, 1, 3]])
    np.testing.assert_array_equal(vectors[0], vectors[2])


# Fitted rankers, and weighted words


@pytest.mark.parametrize("types", [COMB, None])
def test_fit_receives_each_sentence_once_and_each_pair_of_its_types(
    load, corpus, monkeypatch, types
):
    received = []
    monkeypatch.setattr(MappedRanker, "fit", lambda self, fitting: received.append(fitting))
    monkeypatch.setattr(scoring, "score_split", lambda *_: (0, -1))
    mapped = untrained_system("mapped")
    data = load(mapped, types)
    score_untrained(data, mapped, seed=0)
    (fitting,) = received
    typed = corpus if types is None else corpus[corpus["question_type"].isin(types)]
    assert len(fitting.sentences) == len({*typed["question"], *typed["candidate"]})
    encoder = build_encoder("mean", data.word_vectors, TRAINING, seed=0)
    for side, rows in (("question", fitting.questions), ("candidate", fitting.candidates)):
        expected = [encode_alone(encoder, data, text) for text in typed[side]]
        np.testing.assert_allclose(fitting.sentences[rows], expected, atol=1e-6)
    assert fitting.labels.tolist() == typed["label"].tolist()
    assert fitting.splits.tolist() == typed["split"].tolist()


def test_aligned_words_rank_a_candidate_that_repeats_the_question_first(load):
    aligned = untrained_system("aligned", "words")
    data = load(aligned)
    split = data.splits["test"]
    candidates = np.where(split.labels == 1, split.questions, split.candidates)
    data.splits["test"] = split._replace(candidates=candidates)
    scored = score_untrained(data, aligned, seed=3)
    assert set(scored["seed"]) == {3} and set(scored["split"]) == {"dev", "test"}
    test = scored[scored["split"] == "test"]
    best = test.groupby("question_id", observed=True)["score"].transform("max")
    assert (test["score"] == best)[test["label"] == 1].all()


def assert_weighted(data, weights):
    """Compare scores by weighted words with those by word vectors that are multiplied here."""
    weighted, plain = untrained_system("cosine", weighting="sif"), untrained_system("cosine")
    table = score_untrained(data, weighted, seed=0)
    assert set(table["best_prototype"]) == {-1}
    scores = table["score"]
    multiplied = data._replace(word_vectors=data.word_vectors * np.float32(weights)[:, None])
    expected = score_untrained(multiplied, plain, seed=0)["score"]
    np.testing.assert_allclose(scores, expected, atol=1e-5)
    assert np.abs(scores - score_untrained(data, plain, seed=0)["score"]).max() > 0.01


def test_the_weight_of_a_word_falls_with_its_share_of_the_training_sentences(
    load, cell_files, corpus
):
    train = corpus[(corpus["split"] == "train") & corpus["question_type"].isin(COMB)]
    tokens = Counter(token for text in {*train["question"], *train["candidate"]}
                     for token in tokenize(text))  # fmt: skip
    _, word_ids = read_store(cell_files().vectors)
    data = load(untrained_system("cosine", weighting="sif"))
    assert_weighted(data, [A / (A + tokens[word] / tokens.total()) for word in word_ids])


def test_the_frequencies_of_a_file_are_shares_of_all_its_tokens(load, cell_files, tmp_path):
    (tmp_path / "counts.txt").write_text("who 1\nnowhere-else 999\n")
    _, word_ids = read_store(cell_files().vectors)
    system = untrained_system("cosine", weighting="sif")
    data = load(system, frequencies=str(tmp_path / "counts.txt"))
    # p is .001, which is A, or 0.
    assert_weighted(data, [0.5 if word == "who" else 1 for word in word_ids])


@pytest.mark.parametrize("shortest", [1, 4])
def test_short_words_are_skipped_and_count_as_tokens(load, corpus, monkeypatch, shortest):
    calls = []
    monkeypatch.setitem(
        scoring.WEIGHTS, "sif", lambda *arguments: calls.append(arguments) or arguments[0]
    )
    system = untrained_system("cosine", weighting="sif", shortest_word=shortest)
    data = load(system, None)
    kept = [
        sum(len(token) >= shortest for token in tokenize(text)) for text in data.sentences.index
    ]
    assert data.sentences.lengths.tolist() == kept
    score_untrained(data, system, seed=0)
    train = corpus[corpus["split"] == "train"]
    tokens = [tokenize(text) for text in {*train["question"], *train["candidate"]}]
    kept = sum(len(token) >= shortest for words in tokens for token in words)
    [(counts, total)] = calls
    assert (counts.sum(), total) == (kept, sum(map(len, tokens)))


# Sentence vectors


def test_stored_sentence_vectors_are_compared(cell_files, corpus, tmp_path):
    files = cell_files()
    sentences = ranked_sentences(corpus, typed_only=True)
    vectors = np.random.default_rng(2).normal(size=(len(sentences), 5)).astype(np.float32)
    find_vector = dict(zip(sentences, vectors, strict=True)).__getitem__
    path = str(tmp_path / "sentences.npy")
    write_store(vectors, np.ones(len(sentences), bool), sentences, "toy", path)
    evaluated = {split: files.quadruples[split] for split in ("dev", "test")}
    files = files._replace(vectors=None, sentence_vectors=path, quadruples=evaluated)
    system = System(title="S", sentence_vectors="means", ranker="analogy", p=3)
    data = load_cell(files, COMB, system, lowercase=True)
    pairs = pd.concat([data.splits[split].pairs for split in ("dev", "test")])
    expected = [max(energies) for energies in find_energies(files, pairs, find_vector, 3)]
    scores = score_untrained(data, system, 0)
    np.testing.assert_allclose(scores["score"], expected, atol=1e-6)


# BM25


@pytest.fixture
def score_bm25(tmp_path):
    def score(corpus, types):
        write_table(corpus, CORPUS, tmp_path / "corpus.parquet")
        bm25 = build_ranker(System(title="B", ranker="bm25"))
        return score_text(str(tmp_path / "corpus.parquet"), types, bm25, lowercase=True)

    return score


def test_idf_is_computed_over_all_candidates(score_bm25, make_corpus):
    dev = ("dev", "who has quartz or radium ?", [("some quartz", 1), ("some radium", 0)])
    train = ("train", "what ?", [(f"quartz {number}", 0) for number in range(9)])
    corpus = make_corpus([dev, train, ("test", "who ?", [("a", 1)])])
    quartz, radium, _ = score_bm25(corpus, ["who"])["score"]
    assert radium > quartz


# Tables of a cell that do not fit


def rename_candidates(files):
    table = read_table(files.quadruples["test"], QUADRUPLES)
    other = table["candidate_id"].cat.rename_categories(lambda name: f"other-{name}")
    write_table(table.assign(candidate_id=other), QUADRUPLES, files.quadruples["test"])


def replace_words(files):
    write_store(np.ones((1, 8), np.float32), np.ones(1, bool), ["some"], "toy", files.vectors)


@pytest.mark.parametrize(
    ("p", "change", "message"),
    [
        (3, rename_candidates, r"test0\.parquet.*: the quadruples belong to another corpus or"),
        (4, lambda files: None, r"test0\.parquet.*: the quadruples .*more prototypes"),
        (3, replace_words, "not in the word vectors"),
    ],
)
def test_tables_of_another_corpus_or_of_more_prototypes_do_not_fit(cell_files, p, change, message):
    files = cell_files(p=p)
    change(files)
    with pytest.raises(AnalogyQAError, match=f"{message}.* do not fit each other"):
        load_cell(files, COMB, trained_system(), lowercase=True)


@pytest.mark.parametrize(
    ("types", "described"),
    [(["who"], " of type who"), (["when", "who"], " of type when or who"), (None, "")],
)
@pytest.mark.parametrize("split", ["dev", "test"])
def test_a_split_without_questions_of_the_subset_is_named(corpus, types, described, split):
    of_types = (types is None) | corpus["question_type"].isin(types or [])
    remaining = corpus[~((corpus["split"] == split) & of_types)]
    with pytest.raises(
        AnalogyQAError, match=rf"corpus\.parquet: no question{described} in the {split} split has a"
    ):
        load_pairs(remaining, types, SPLITS, "corpus.parquet")
