"""Prototypes are correct training pairs, nested in p."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analogyqa.analogies.prototypes import choose_prototypes, take
from analogyqa.errors import AnalogyQAError
from analogyqa.schemas import PROTOTYPES, read_table, write_table


@pytest.mark.parametrize("subset", ["who", "when", "where", "comb"])
def test_every_prototype_is_a_correct_training_pair_of_its_type(corpus, subset):
    chosen = choose_prototypes(corpus, subset, seed=0)
    found = chosen.merge(corpus, on=["question_id", "candidate_id", "question_type"])
    assert len(found) == len(chosen)
    assert set(found["split"]) == {"train"}
    assert set(found["label"]) == {1}


def test_a_question_gives_at_most_one_prototype_and_every_question_one(corpus):
    chosen = choose_prototypes(corpus, "comb", seed=0)
    train = corpus[(corpus["split"] == "train") & corpus["question_type"].notna()]
    assert chosen["question_id"].is_unique
    assert set(chosen["question_id"]) == set(train["question_id"])


def test_ranks_count_from_0_in_each_type(corpus):
    chosen = choose_prototypes(corpus, "comb", seed=0)
    for _, own in chosen.groupby("question_type"):
        assert own["rank"].tolist() == list(range(7))


def test_comb_is_the_union_of_the_types_own_prototypes(corpus):
    own = [choose_prototypes(corpus, kind, seed=3) for kind in ("who", "when", "where")]
    pd.testing.assert_frame_equal(
        choose_prototypes(corpus, "comb", seed=3), pd.concat(own, ignore_index=True)
    )


def test_the_same_seed_chooses_the_same_and_seeds_differ(corpus):
    first, again, other = (choose_prototypes(corpus, "comb", seed) for seed in (0, 0, 1))
    pd.testing.assert_frame_equal(first, again)
    assert first["candidate_id"].tolist() != other["candidate_id"].tolist()


@given(st.integers(0, 100), st.data())
def test_a_smaller_set_is_the_start_of_a_larger_one(corpus, seed, data):
    small, large = sorted(data.draw(st.tuples(st.integers(1, 7), st.integers(1, 7))))
    chosen = choose_prototypes(corpus, "comb", seed)
    fewer, more = take(chosen, "comb", small, "file"), take(chosen, "comb", large, "file")
    assert fewer.groupby("question_type").size().eq(small).all()
    pd.testing.assert_frame_equal(fewer, take(more, "comb", small, "file"))


@pytest.mark.parametrize("choice", ["pair", "question"])
def test_either_choice_takes_one_correct_pair_of_each_question(corpus, choice):
    chosen = choose_prototypes(corpus, "comb", 0, choice)
    found = chosen.merge(corpus, on=["question_id", "candidate_id", "question_type"])
    assert len(found) == len(chosen) == 21
    assert found["question_id"].is_unique
    assert set(found["label"]) == {1}
    for _, own in chosen.groupby("question_type"):
        assert own["rank"].tolist() == list(range(7))


def first_chosen(corpus, choice, seeds):
    """Count how often each question gives the first prototype."""
    firsts = [choose_prototypes(corpus, "who", seed, choice).iloc[0] for seed in range(seeds)]
    return pd.Series([first["question_id"] for first in firsts]).value_counts() / seeds


def test_by_question_one_with_many_correct_candidates_comes_early_as_often_as_another(make_corpus):
    questions = [("train", f"who is {number} ?", [("a", 1)]) for number in range(3)]
    corpus = make_corpus([*questions, ("train", "who is many ?", [(f"b{n}", 1) for n in range(9)])])
    by_pair, by_question = (
        first_chosen(corpus, choice, 300).reindex(["q3"], fill_value=0)["q3"]
        for choice in ("pair", "question")
    )
    assert by_pair == pytest.approx(9 / 12, abs=0.1)
    assert by_question == pytest.approx(1 / 4, abs=0.1)


def test_by_question_the_same_seed_chooses_the_same_and_seeds_differ(corpus):
    first, again, other = (
        choose_prototypes(corpus, "comb", seed, "question") for seed in (0, 0, 1)
    )
    pd.testing.assert_frame_equal(first, again)
    assert first["candidate_id"].tolist() != other["candidate_id"].tolist()


def test_the_choice_survives_the_way_through_parquet(corpus, tmp_path):
    chosen = choose_prototypes(corpus, "comb", seed=0)
    write_table(chosen, PROTOTYPES, tmp_path / "prototypes")
    read = take(read_table(tmp_path / "prototypes", PROTOTYPES), "comb", 4, "file")
    assert read.astype(object).to_dict("list") == take(chosen, "comb", 4, "file").to_dict("list")


def test_too_large_a_p_names_file_type_and_what_is_allowed(corpus):
    message = r"some\.parquet: only 7 who prototypes, .* asks for 8; allowed: 1 to 7"
    with pytest.raises(AnalogyQAError, match=message):
        take(choose_prototypes(corpus, "who", 0), "who", 8, "some.parquet")


@pytest.mark.parametrize("subset", ["who", "comb"])
def test_a_type_without_training_questions_names_the_data_set_and_its_key(corpus, subset):
    gone = (corpus["split"] == "train") & (corpus["question_type"] == "who")
    with pytest.raises(
        AnalogyQAError,
        match=rf"^toy: no who question .* for {subset}\. Leave {subset} out .*datasets\.toy\.train",
    ):
        choose_prototypes(corpus[~gone], subset, 0, dataset="toy")
