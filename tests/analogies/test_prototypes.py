"""Prototypes are correct training pairs, nested in p."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analogyqa.analogies.prototypes import choose_prototypes, take_prototypes
from analogyqa.corpora.questions import OTHER
from analogyqa.errors import AnalogyQAError
from builders.cells import COMB

# The number of training questions of each type in the toy corpus.
QUESTION_COUNTS = dict.fromkeys(COMB, 7) | {OTHER: 1}


@pytest.mark.parametrize("choice", ["pair", "question"])
@pytest.mark.parametrize("types", [*([name] for name in COMB), COMB, None])
def test_every_question_gives_one_correct_pair(corpus, types, choice):
    chosen = choose_prototypes(corpus, types, 0, choice)
    pairs = chosen.merge(corpus.fillna({"question_type": OTHER}))
    assert len(pairs) == len(chosen)
    assert (set(pairs["split"]), set(pairs["label"])) == ({"train"}, {1})
    assert chosen["question_id"].is_unique
    ranks = {name: rows["rank"].tolist() for name, rows in chosen.groupby("question_type")}
    names = sorted(QUESTION_COUNTS) if types is None else types
    assert ranks == {name: list(range(QUESTION_COUNTS[name])) for name in names}


@pytest.mark.parametrize("types", [COMB, None])
def test_a_type_has_the_same_prototypes_in_every_subset(corpus, types):
    by_type = [choose_prototypes(corpus, [name], seed=3) for name in (types or sorted(COMB))]
    chosen = choose_prototypes(corpus, types, seed=3)
    typed = chosen[chosen["question_type"] != OTHER].reset_index(drop=True)
    pd.testing.assert_frame_equal(typed, pd.concat(by_type, ignore_index=True), check_dtype=False)


@pytest.mark.parametrize("types", [COMB, None])
def test_each_type_may_have_the_prototypes_of_the_next_one(corpus, types):
    own, others = (choose_prototypes(corpus, types, 3, name) for name in ("pair", "other_type"))
    names = sorted(QUESTION_COUNTS) if types is None else types
    for name, following in zip(names, [*names[1:], names[0]], strict=True):
        expected = own[own["question_type"] == following].assign(question_type=name)
        chosen = others[others["question_type"] == name]
        pd.testing.assert_frame_equal(chosen, expected, check_dtype=False)
    with pytest.raises(AnalogyQAError, match=r"^toy: who questions .* another type"):
        choose_prototypes(corpus, ["who"], 0, "other_type", "toy")


@given(st.integers(0, 100), st.data())
def test_sets_of_prototypes_are_nested(corpus, seed, data):
    small_p, large_p = sorted(data.draw(st.tuples(st.integers(1, 7), st.integers(1, 7))))
    chosen = choose_prototypes(corpus, COMB, seed)
    small_set, large_set = (take_prototypes(chosen, COMB, p, "") for p in (small_p, large_p))
    assert small_set.groupby("question_type").size().eq(small_p).all()
    pd.testing.assert_frame_equal(small_set, take_prototypes(large_set, COMB, small_p, "file"))


@pytest.mark.parametrize(("choice", "share"), [("pair", 9 / 12), ("question", 1 / 4)])
def test_questions_with_many_correct_pairs_start_more_often_if_chosen_by_pair(
    make_corpus, choice, share
):
    questions = [("train", f"who is {number} ?", [("a", 1)]) for number in range(3)]
    corpus = make_corpus([*questions, ("train", "who is many ?", [(f"b{n}", 1) for n in range(9)])])
    chosen = [choose_prototypes(corpus, ["who"], seed, choice) for seed in range(100)]
    starts = [prototypes["question_id"].iloc[0] == "q3" for prototypes in chosen]
    assert sum(starts) / 100 == pytest.approx(share, abs=0.1)
    pd.testing.assert_frame_equal(chosen[0], choose_prototypes(corpus, ["who"], 0, choice))


@pytest.mark.parametrize(("types", "p"), [(["who"], 8), (COMB, 9)])
def test_too_large_a_p_is_an_error(corpus, types, p):
    message = rf"some\.parquet: only 7 who prototypes, but p is {p}\. .* 1 to 7"
    with pytest.raises(AnalogyQAError, match=message):
        take_prototypes(choose_prototypes(corpus, types, 0), types, p, "some.parquet")


def test_in_the_subset_all_rare_types_may_have_fewer_prototypes(corpus):
    taken = take_prototypes(choose_prototypes(corpus, None, 0), None, 2, "some.parquet")
    assert taken["question_type"].value_counts().to_dict() == dict.fromkeys(COMB, 2) | {OTHER: 1}
    # Types without prototypes are not required.
    assert len(take_prototypes(choose_prototypes(corpus, ["who"], 0), None, 7, "a.parquet")) == 7


@pytest.mark.parametrize("types", [["who"], COMB, None])
def test_a_type_without_training_questions_names_the_data_set_and_its_key(corpus, types):
    is_removed = (corpus["split"] == "train") & (corpus["question_type"] == "who")
    with pytest.raises(AnalogyQAError, match=r"^toy: no who question .*datasets\.toy\.train"):
        choose_prototypes(corpus[~is_removed], types, 0, dataset="toy")


def test_a_corpus_without_any_correct_candidate_is_named(make_corpus):
    corpus = make_corpus([("train", "what is it ?", [("nothing", 0)])])
    with pytest.raises(AnalogyQAError, match=r"^toy: no other question .*datasets\.toy\.train"):
        choose_prototypes(corpus, None, 0, dataset="toy")
