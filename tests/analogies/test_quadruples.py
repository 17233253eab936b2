"""Exactly the quadruples of section 3.2 and 4.2, in bounded memory."""

import tracemalloc

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analogyqa.analogies import quadruples
from analogyqa.analogies.prototypes import choose_prototypes, take
from analogyqa.analogies.quadruples import (
    evaluation_blocks,
    questions_of,
    subset_of,
    training_blocks,
    write_quadruples,
)
from analogyqa.errors import AnalogyQAError
from analogyqa.schemas import QUADRUPLES, read_table
from analogyqa.settings.systems import Negatives

KINDS = ("who", "when", "where")


@st.composite
def corpora(draw):
    """Training questions of every type with at least one correct candidate, and dev questions."""
    sizes = st.tuples(st.sampled_from(KINDS), st.integers(1, 3), st.integers(0, 4))
    train = [(kind, 1, 1) for kind in KINDS] + draw(st.lists(sizes, max_size=8))
    dev = draw(st.lists(sizes, min_size=1, max_size=5))
    return [
        (split, f"{kind} is it ?", [("a", 1)] * correct + [("b", 0)] * wrong)
        for split, questions in (("train", train), ("dev", dev))
        for kind, correct, wrong in questions
    ]


def negatives_settings():
    return st.builds(Negatives, per=st.sampled_from(["pair", "question"]), count=st.integers(1, 2))


def rows_of(blocks):
    ranks, rows = zip(*blocks, strict=True)
    return np.concatenate(ranks), np.concatenate(rows)


@given(corpora(), st.sampled_from([*KINDS, "comb"]), negatives_settings(), st.data())
def test_the_training_counts_are_those_of_the_formula(make_corpus, questions, subset, how, data):
    corpus = make_corpus(questions)
    pairs = subset_of(corpus, "train", subset)
    chosen = choose_prototypes(corpus, subset, seed=0)
    largest = int(chosen.groupby("question_type").size().min())
    p = data.draw(st.integers(1, largest))
    prototypes = take(chosen, subset, p, "file")
    _, rows = rows_of(training_blocks(pairs, prototypes, how, seed=0))
    labels = pairs["label"].to_numpy()[rows]
    by_question = pairs.groupby("question_id")["label"]
    correct, candidates = by_question.sum(), by_question.size()
    drawn = correct * how.count if how.per == "pair" else how.count
    assert (labels == 1).sum() == p * correct.sum() - len(prototypes)
    assert (labels == 0).sum() == p * (drawn * (candidates > correct)).sum()


@given(corpora(), st.sampled_from([*KINDS, "comb"]), st.integers(1, 50))
def test_evaluation_is_every_prototype_of_the_type_for_each_candidate_of_each_question(
    make_corpus, questions, subset, block
):
    corpus = make_corpus(questions)
    pairs = subset_of(corpus, "dev", subset)
    prototypes = choose_prototypes(corpus, subset, seed=0)
    expected = [
        (rank, row)
        for question in questions_of(pairs)
        for row in question.rows
        for rank in prototypes.loc[prototypes["question_type"] == question.kind, "rank"]
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(quadruples, "ROWS_PER_BLOCK", block)
        blocks = list(evaluation_blocks(pairs, prototypes))
    found = list(zip(*rows_of(blocks), strict=True)) if blocks else []
    assert found == expected


def test_a_type_without_prototypes_is_named(corpus):
    prototypes = choose_prototypes(corpus, "comb", seed=0)
    without = prototypes[prototypes["question_type"] != "where"]
    with pytest.raises(AnalogyQAError, match="where"):
        list(evaluation_blocks(subset_of(corpus, "dev", "comb"), without))


def test_evaluation_pairs_every_prototype_of_the_type_with_every_candidate(corpus):
    pairs = subset_of(corpus, "test", "comb")
    prototypes = take(choose_prototypes(corpus, "comb", seed=0), "comb", 3, "file")
    ranks, rows = rows_of(evaluation_blocks(pairs, prototypes))
    assert len(ranks) == 3 * len(pairs)
    assert set(zip(ranks, rows, strict=True)) == {
        (rank, row) for rank in range(3) for row in range(len(pairs))
    }


@pytest.mark.parametrize("per", ["pair", "question"])
def test_a_prototype_never_meets_itself(corpus, per):
    pairs = subset_of(corpus, "train", "comb")
    prototypes = choose_prototypes(corpus, "comb", seed=0)
    by_rank = prototypes.set_index(["question_type", "rank"])["candidate_id"]
    ranks, rows = rows_of(training_blocks(pairs, prototypes, Negatives(per=per), seed=0))
    met = pairs.loc[rows]
    prototype_ids = by_rank.loc[list(zip(met["question_type"], ranks, strict=True))]
    assert (prototype_ids.to_numpy() != met["candidate_id"].to_numpy()).all()


def test_every_correct_pair_meets_every_other_prototype_once(corpus):
    pairs = subset_of(corpus, "train", "who")
    prototypes = take(choose_prototypes(corpus, "who", seed=0), "who", 3, "file")
    ranks, rows = rows_of(training_blocks(pairs, prototypes, Negatives(), seed=0))
    positive = pairs["label"].to_numpy()[rows] == 1
    found = list(zip(ranks[positive], pairs["candidate_id"][rows[positive]], strict=True))
    correct = pairs.loc[pairs["label"] == 1, "candidate_id"]
    itself = set(zip(prototypes["rank"], prototypes["candidate_id"], strict=True))
    assert sorted(found) == sorted({(rank, one) for rank in range(3) for one in correct} - itself)


def test_a_question_without_wrong_candidates_gives_no_negatives(corpus):
    pairs = subset_of(corpus, "train", "comb")
    prototypes = choose_prototypes(corpus, "comb", seed=0)
    all_correct = [question for question in questions_of(pairs) if not len(question.wrong)]
    _, rows = rows_of(training_blocks(pairs, prototypes, Negatives(count=2), seed=0))
    drawn = pairs.loc[rows]
    own = drawn[drawn["question_id"].isin([question.question_id for question in all_correct])]
    assert len(all_correct) == 3
    assert set(own["label"]) == {1}


def test_with_pair_all_prototypes_meet_the_same_wrong_candidates(corpus):
    pairs = subset_of(corpus, "train", "who")
    prototypes = take(choose_prototypes(corpus, "who", seed=0), "who", 5, "file")
    for ranks, rows in training_blocks(pairs, prototypes, Negatives(count=3), seed=0):
        wrong = pairs["label"].to_numpy()[rows] == 0
        met = {tuple(rows[wrong & (ranks == rank)]) for rank in range(5)}
        assert len(met) == 1


def test_with_question_prototypes_draw_for_themselves(corpus):
    pairs = subset_of(corpus, "train", "who")
    prototypes = take(choose_prototypes(corpus, "who", seed=0), "who", 5, "file")
    how = Negatives(per="question", count=3)
    ranks, rows = next(iter(training_blocks(pairs, prototypes, how, seed=0)))
    wrong = pairs["label"].to_numpy()[rows] == 0
    assert len({tuple(rows[wrong & (ranks == rank)]) for rank in range(5)}) > 1


def test_the_draw_follows_the_seed(corpus):
    pairs = subset_of(corpus, "train", "comb")
    prototypes = choose_prototypes(corpus, "comb", seed=0)
    first, again, other = (
        rows_of(training_blocks(pairs, prototypes, Negatives(), seed))[1] for seed in (0, 0, 1)
    )
    assert first.tolist() == again.tolist()
    assert first.tolist() != other.tolist()


def test_the_rows_of_a_question_are_its_own(corpus):
    pairs = subset_of(corpus, "train", "comb")
    for question in questions_of(pairs):
        own = pairs.loc[question.rows]
        assert set(own["question_id"]) == {question.question_id}
        assert set(own["question_type"]) == {question.kind}
        assert set(pairs.loc[question.correct, "label"]) == {1}
        assert sorted([*question.correct, *question.wrong]) == sorted(question.rows)


def test_a_subset_has_only_questions_of_its_types(corpus):
    assert set(subset_of(corpus, "dev", "when")["question_type"]) == {"when"}
    assert set(subset_of(corpus, "dev", "comb")["question_type"]) == set(KINDS)
    assert set(subset_of(corpus, "dev", "comb")["split"]) == {"dev"}


# Parquet


@pytest.fixture
def written(corpus, tmp_path):
    """Write the training quadruples; return the pairs, the path and what the blocks held."""
    pairs = subset_of(corpus, "train", "comb")
    prototypes = choose_prototypes(corpus, "comb", seed=0)
    blocks = list(training_blocks(pairs, prototypes, Negatives(), seed=0))
    path = tmp_path / "train.parquet"
    total = write_quadruples(blocks, pairs, path)
    ranks, rows = rows_of(blocks)
    expected = pairs.loc[rows, ["question_id", "candidate_id", "label"]].astype(object)
    return path, total, expected.assign(prototype=ranks)[QUADRUPLES.names].reset_index(drop=True)


def assert_holds(path, expected):
    read = read_table(path, QUADRUPLES).astype(object)
    pd.testing.assert_frame_equal(read, expected, check_dtype=False)


def test_parquet_holds_the_blocks_with_the_labels_of_the_corpus(written):
    path, total, expected = written
    assert total == len(expected)
    assert_holds(path, expected)


def test_several_row_groups_hold_the_same_rows(monkeypatch, written, corpus, tmp_path):
    _, total, expected = written
    monkeypatch.setattr(quadruples, "ROWS_PER_GROUP", 50)
    pairs = subset_of(corpus, "train", "comb")
    prototypes = choose_prototypes(corpus, "comb", seed=0)
    blocks = training_blocks(pairs, prototypes, Negatives(), seed=0)
    assert write_quadruples(blocks, pairs, tmp_path / "groups.parquet") == total
    assert pq.ParquetFile(tmp_path / "groups.parquet").num_row_groups > 2
    assert_holds(tmp_path / "groups.parquet", expected)


def test_no_blocks_give_an_empty_table(corpus, tmp_path):
    assert write_quadruples([], subset_of(corpus, "train", "who"), tmp_path / "none") == 0
    assert len(read_table(tmp_path / "none", QUADRUPLES)) == 0


def test_memory_holds_one_group_however_many_there_are(monkeypatch, corpus, tmp_path):
    monkeypatch.setattr(quadruples, "ROWS_PER_GROUP", 20_000)
    pairs = subset_of(corpus, "train", "comb")

    def peak(groups: int) -> int:
        blocks = ((np.zeros(10_000, int), np.zeros(10_000, int)) for _ in range(2 * groups))
        tracemalloc.start()
        total = write_quadruples(blocks, pairs, tmp_path / "many.parquet")
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert total == groups * 20_000
        return peak

    peak(1)
    assert peak(30) < 1.5 * peak(3)


def test_a_failing_block_leaves_no_file(corpus, tmp_path):
    def blocks():
        yield np.zeros(1, int), np.zeros(1, int)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_quadruples(blocks(), subset_of(corpus, "train", "who"), tmp_path / "half.parquet")
    assert not list(tmp_path.iterdir())
