"""Quadruples are those of sections 3.2 and 4.2, and are written in bounded memory."""

import tracemalloc

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analogyqa.analogies import quadruples
from analogyqa.analogies.prototypes import choose_prototypes, take_prototypes
from analogyqa.analogies.quadruples import (
    evaluation_blocks,
    group_questions,
    training_blocks,
    write_quadruples,
)
from analogyqa.corpora.questions import select_subset
from analogyqa.errors import AnalogyQAError
from analogyqa.schemas import QUADRUPLES, read_table
from analogyqa.settings.systems import Negatives
from builders.cells import COMB

FIRST_WORDS = (*COMB, "what")  # the last one has no question type


@st.composite
def corpora(draw):
    """Training questions of every type with at least one correct candidate, and dev questions."""
    sizes = st.tuples(st.sampled_from(FIRST_WORDS), st.integers(1, 3), st.integers(0, 4))
    train = [(first_word, 1, 1) for first_word in FIRST_WORDS] + draw(st.lists(sizes, max_size=8))
    dev = draw(st.lists(sizes, min_size=1, max_size=5))
    return [
        (split, f"{first_word} is it ?", [("a", 1)] * correct + [("b", 0)] * wrong)
        for split, questions in (("train", train), ("dev", dev))
        for first_word, correct, wrong in questions
    ]


def ranks_and_rows(blocks):
    return tuple(map(np.concatenate, zip(*blocks, strict=True)))


SUBSETS = st.sampled_from([*([name] for name in COMB), COMB, None])
NEGATIVES = st.builds(Negatives, per=st.sampled_from(["pair", "question"]), count=st.integers(1, 2))


@given(corpora(), SUBSETS, NEGATIVES, st.data())
def test_the_number_of_training_quadruples_follows_the_formula(
    make_corpus, questions, types, negatives, data
):
    corpus = make_corpus(questions)
    pairs = select_subset(corpus, "train", types)
    chosen = choose_prototypes(corpus, types, seed=0)
    largest = int(chosen.groupby("question_type").size().min())
    p = data.draw(st.integers(1, largest))
    prototypes = take_prototypes(chosen, types, p, "file")
    _, rows = ranks_and_rows(training_blocks(pairs, prototypes, negatives, seed=0))
    labels = pairs["label"].to_numpy()[rows]
    by_question = pairs.groupby("question_id")["label"]
    correct, candidates = by_question.sum(), by_question.size()
    drawn = correct * negatives.count if negatives.per == "pair" else negatives.count
    assert (labels == 1).sum() == p * correct.sum() - len(prototypes)
    assert (labels == 0).sum() == p * (drawn * (candidates > correct)).sum()


@given(corpora(), SUBSETS, st.integers(1, 50))
def test_evaluation_joins_each_candidate_with_every_prototype_of_its_type(
    make_corpus, questions, types, block
):
    corpus = make_corpus(questions)
    pairs = select_subset(corpus, "dev", types)
    prototypes = choose_prototypes(corpus, types, seed=0)
    expected = [
        (rank, row)
        for question in group_questions(pairs)
        for row in question.rows
        for rank in prototypes.loc[prototypes["question_type"] == question.question_type, "rank"]
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(quadruples, "ROWS_PER_BLOCK", block)
        blocks = list(evaluation_blocks(pairs, prototypes))
    actual = list(zip(*ranks_and_rows(blocks), strict=True)) if blocks else []
    assert actual == expected


def pairs_and_prototypes(corpus, types, p, split="train"):
    prototypes = take_prototypes(choose_prototypes(corpus, types, seed=0), types, p, "file")
    return select_subset(corpus, split, types), prototypes


@pytest.mark.parametrize("dtype", ["object", "category"])
def test_a_type_without_prototypes_is_named(corpus, dtype):
    pairs, prototypes = pairs_and_prototypes(corpus, COMB, 3, "dev")
    prototypes = prototypes.astype({"question_type": dtype})
    with pytest.raises(AnalogyQAError, match="where"):
        list(evaluation_blocks(pairs, prototypes[prototypes["question_type"] != "where"]))


def test_every_correct_pair_meets_every_other_prototype_once(corpus):
    pairs, prototypes = pairs_and_prototypes(corpus, ["who"], 3)
    ranks, rows = ranks_and_rows(training_blocks(pairs, prototypes, Negatives(), seed=0))
    positive = pairs["label"].to_numpy()[rows] == 1
    actual = list(zip(ranks[positive], pairs["candidate_id"][rows[positive]], strict=True))
    correct = pairs.loc[pairs["label"] == 1, "candidate_id"]
    with_itself = set(zip(prototypes["rank"], prototypes["candidate_id"], strict=True))
    expected = {(rank, candidate_id) for rank in range(3) for candidate_id in correct} - with_itself
    assert sorted(actual) == sorted(expected)


@pytest.mark.parametrize("per", ["pair", "question"])
def test_prototypes_share_wrong_candidates_unless_drawn_by_question(corpus, per):
    pairs, prototypes = pairs_and_prototypes(corpus, ["who"], 5)
    differing_questions = 0
    for ranks, rows in training_blocks(pairs, prototypes, Negatives(per=per, count=3), seed=0):
        wrong = pairs["label"].to_numpy()[rows] == 0
        differing_questions += len({tuple(rows[wrong & (ranks == rank)]) for rank in range(5)}) > 1
    assert (differing_questions > 0) == (per == "question")


def test_the_draw_follows_the_seed(corpus):
    tables = pairs_and_prototypes(corpus, COMB, 7)
    first, again, other = (
        ranks_and_rows(training_blocks(*tables, Negatives(), seed))[1].tolist()
        for seed in (0, 0, 1)
    )
    assert first == again != other


def test_parquet_holds_all_blocks_with_labels_in_row_groups(corpus, tmp_path, monkeypatch):
    pairs, prototypes = pairs_and_prototypes(corpus, COMB, 7)
    blocks = list(training_blocks(pairs, prototypes, Negatives(), seed=0))
    ranks, rows = ranks_and_rows(blocks)
    expected = pairs.loc[rows, ["question_id", "candidate_id", "label"]].astype(object)
    expected = expected.assign(prototype=ranks)[QUADRUPLES.names].reset_index(drop=True)
    group_counts = []
    for rows_per_group in (quadruples.ROWS_PER_GROUP, 50):
        monkeypatch.setattr(quadruples, "ROWS_PER_GROUP", rows_per_group)
        write_quadruples(blocks, pairs, tmp_path / "table")
        table = read_table(tmp_path / "table", QUADRUPLES).astype(object)
        pd.testing.assert_frame_equal(table, expected, check_dtype=False)
        group_counts.append(pq.ParquetFile(tmp_path / "table").num_row_groups)
    assert group_counts[0] == 1 < 2 < group_counts[1]
    write_quadruples([], pairs, tmp_path / "none")
    assert read_table(tmp_path / "none", QUADRUPLES).empty


def test_memory_does_not_grow_with_the_number_of_row_groups(monkeypatch, corpus, tmp_path):
    monkeypatch.setattr(quadruples, "ROWS_PER_GROUP", 20_000)
    pairs = select_subset(corpus, "train", COMB)

    def peak(groups: int) -> int:
        blocks = ((np.zeros(10_000, int), np.zeros(10_000, int)) for _ in range(2 * groups))
        tracemalloc.start()
        write_quadruples(blocks, pairs, tmp_path / "many.parquet")
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert pq.ParquetFile(tmp_path / "many.parquet").metadata.num_rows == groups * 20_000
        return peak

    peak(1)
    assert peak(30) < 1.5 * peak(3)
