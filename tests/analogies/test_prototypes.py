"""Prototypes are correct training pairs, nested in p."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analogyqa.analogies.prototypes import choose_prototypes, take_prototypes
from analogyqa.corpora.question_types import OTHER
from analogyqa.errors import AnalogyQAError
from small_cells import COMB

# The training questions of each type in the toy corpus.
QUESTIONS = dict.fromkeys(COMB, 7) | {OTHER: 1}


@pytest.mark.parametrize("choice", ["pair", "question"])
@pytest.mark.parametrize("types", [*([kind] for kind in COMB), COMB, None])
def test_every_question_gives_one_correct_pair(corpus, types, choice):
    chosen = choose_prototypes(corpus, types, 0, choice)
    found = chosen.merge(corpus.fillna({"question_type": OTHER}))
    assert len(found) == len(chosen)
    assert (set(found["split"]), set(found["label"])) == ({"train"}, {1})
    assert chosen["question_id"].is_unique
    ranks = {kind: own["rank"].tolist() for kind, own in chosen.groupby("question_type")}
    kinds = sorted(QUESTIONS) if types is None else types
    assert ranks == {kind: list(range(QUESTIONS[kind])) for kind in kinds}


@pytest.mark.parametrize("types", [COMB, None])
def test_a_type_has_the_same_prototypes_in_every_subset(corpus, types):
    own = [choose_prototypes(corpus, [kind], seed=3) for kind in (types or sorted(COMB))]
    chosen = choose_prototypes(corpus, types, seed=3)
    typed = chosen[chosen["question_type"] != OTHER].reset_index(drop=True)
    pd.testing.assert_frame_equal(typed, pd.concat(own, ignore_index=True), check_dtype=False)


@pytest.mark.parametrize("choice", ["pair", "question"])
def test_the_choice_depends_on_the_seed(corpus, choice):
    first, again, other = (choose_prototypes(corpus, COMB, seed, choice) for seed in (0, 0, 1))
    pd.testing.assert_frame_equal(first, again)
    assert first["candidate_id"].tolist() != other["candidate_id"].tolist()


@given(st.integers(0, 100), st.data())
def test_sets_of_prototypes_are_nested(corpus, seed, data):
    small, large = sorted(data.draw(st.tuples(st.integers(1, 7), st.integers(1, 7))))
    chosen = choose_prototypes(corpus, COMB, seed)
    fewer, more = (
        take_prototypes(chosen, COMB, small, "file"),
        take_prototypes(chosen, COMB, large, "file"),
    )
    assert fewer.groupby("question_type").size().eq(small).all()
    pd.testing.assert_frame_equal(fewer, take_prototypes(more, COMB, small, "file"))


def first_chosen(corpus, choice, seeds):
    """Count how often each question gives the first prototype."""
    firsts = [choose_prototypes(corpus, ["who"], seed, choice).iloc[0] for seed in range(seeds)]
    return pd.Series([first["question_id"] for first in firsts]).value_counts() / seeds


def test_by_question_all_questions_come_early_equally_often(make_corpus):
    questions = [("train", f"who is {number} ?", [("a", 1)]) for number in range(3)]
    corpus = make_corpus([*questions, ("train", "who is many ?", [(f"b{n}", 1) for n in range(9)])])
    by_pair, by_question = (
        first_chosen(corpus, choice, 100).reindex(["q3"], fill_value=0)["q3"]
        for choice in ("pair", "question")
    )
    assert by_pair == pytest.approx(9 / 12, abs=0.1)
    assert by_question == pytest.approx(1 / 4, abs=0.1)


@pytest.mark.parametrize(
    ("types", "p", "kind", "most"),
    [(["who"], 8, "who", 7), (COMB, 9, "who", 7)],
)
def test_too_large_a_p_is_an_error(corpus, types, p, kind, most):
    message = rf"some\.parquet: only {most} {kind} prototypes, but p is {p}\. .* 1 to {most}"
    with pytest.raises(AnalogyQAError, match=message):
        take_prototypes(choose_prototypes(corpus, types, 0), types, p, "some.parquet")


def test_rare_types_may_have_fewer_prototypes_in_all(corpus):
    taken = take_prototypes(choose_prototypes(corpus, None, 0), None, 2, "some.parquet")
    assert taken["question_type"].value_counts().to_dict() == dict.fromkeys(COMB, 2) | {OTHER: 1}
    # A type that a smaller subset lacks is not asked for.
    assert len(take_prototypes(choose_prototypes(corpus, ["who"], 0), None, 7, "a.parquet")) == 7


@pytest.mark.parametrize("types", [["who"], COMB, None])
def test_a_type_without_training_questions_names_the_data_set_and_its_key(corpus, types):
    gone = (corpus["split"] == "train") & (corpus["question_type"] == "who")
    with pytest.raises(AnalogyQAError, match=r"^toy: no who question .*datasets\.toy\.train"):
        choose_prototypes(corpus[~gone], types, 0, dataset="toy")


def test_a_corpus_without_any_correct_candidate_is_named(make_corpus):
    corpus = make_corpus([("train", "what is it ?", [("nothing", 0)])])
    with pytest.raises(AnalogyQAError, match=r"^toy: no other question .*datasets\.toy\.train"):
        choose_prototypes(corpus, None, 0, dataset="toy")
