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


@pytest.mark.parametrize("choice", ["pair", "question"])
def test_the_choice_depends_on_the_seed(corpus, choice):
    first, again, other = (choose_prototypes(corpus, COMB, seed, choice) for seed in (0, 0, 1))
    pd.testing.assert_frame_equal(first, again)
    assert first["candidate_id"].tolist() != other["candidate_id"].tolist()


@given(st.integers(0, 100), st.data())
def test_sets_of_prototypes_are_nested(corpus, seed, data):
    small_p, large_p = sorted(data.draw(st.tuples(st.integers(1, 7), st.integers(1, 7))))
    chosen = choose_prototypes(corpus, COMB, seed)
    small_set, large_set = (
        take_prototypes(chosen, COMB, small_p, "file"),
        take_prototypes(chosen, COMB, large_p, "file"),
    )
    assert small_set.groupby("question_type").size().eq(small_p).all()
    pd.testing.assert_frame_equal(small_set, take_prototypes(large_set, COMB, small_p, "file"))


def first_shares(corpus, choice, seeds):
    """Return the share of seeds in which each question gives the first prototype."""
    chosen = [choose_prototypes(corpus, ["who"], seed, choice) for seed in range(seeds)]
    first_ids = pd.Series([prototypes["question_id"].iloc[0] for prototypes in chosen])
    return first_ids.value_counts() / seeds


def test_choice_by_question_starts_with_every_question_equally_often(make_corpus):
    questions = [("train", f"who is {number} ?", [("a", 1)]) for number in range(3)]
    corpus = make_corpus([*questions, ("train", "who is many ?", [(f"b{n}", 1) for n in range(9)])])
    by_pair, by_question = (
        first_shares(corpus, choice, 100).reindex(["q3"], fill_value=0)["q3"]
        for choice in ("pair", "question")
    )
    assert by_pair == pytest.approx(9 / 12, abs=0.1)
    assert by_question == pytest.approx(1 / 4, abs=0.1)


@pytest.mark.parametrize(
    ("types", "p", "name", "available"),
    [(["who"], 8, "who", 7), (COMB, 9, "who", 7)],
)
def test_too_large_a_p_is_an_error(corpus, types, p, name, available):
    message = rf"only {available} {name} prototypes, but p is {p}\. .* 1 to {available}"
    with pytest.raises(AnalogyQAError, match=rf"some\.parquet: {message}"):
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
