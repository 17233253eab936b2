"""Question types, folds and shares of a corpus."""

import math

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analogyqa.corpora.questions import (
    OTHER,
    classify_question,
    count_shared,
    fold_corpus,
    fold_ids,
    keep_train_share,
    original_split,
    restrict_to_fold,
    select_subset,
)
from analogyqa.errors import AnalogyQAError
from analogyqa.schemas import CORPUS, SPLITS, read_table, write_table

SPELLINGS = (str, str.upper, str.title, lambda text: f"  {text.replace(' ', '   ')} ")
# Split, type, number, spelling, and whether there is a correct candidate.
QUESTION = st.tuples(
    st.sampled_from(SPLITS),
    st.sampled_from(["who", "when", "what"]),
    st.integers(0, 9),
    st.sampled_from(SPELLINGS),
    st.booleans(),
)
ENOUGH = [("train", "who", number, str, True) for number in range(10, 16)]
# One question in every split, spelled differently.
REPEATED = [
    (split, "when", 10, spell, True) for split, spell in zip(SPLITS, SPELLINGS[1:], strict=True)
]
QUESTIONS = st.lists(QUESTION, max_size=25).map(lambda drawn: ENOUGH + REPEATED + drawn)


@pytest.fixture(scope="session")
def make_questions(make_corpus):
    """Build a corpus whose splits share question ids."""

    def build(questions) -> pd.DataFrame:
        by_split = {split: [] for split in SPLITS}
        for split, question_type, number, spell, is_answerable in questions:
            candidates = [(f"{question_type} {number}", int(is_answerable)), ("no answer", 0)]
            by_split[split].append((split, spell(f"{question_type} is {number} ?"), candidates))
        return pd.concat(map(make_corpus, by_split.values()), ignore_index=True)

    return build


def all_folds(corpus: pd.DataFrame, folds: int) -> list[pd.DataFrame]:
    return [fold_corpus(corpus, number, folds) for number in range(1, folds + 1)]


def part(folded: pd.DataFrame, split: str) -> pd.DataFrame:
    return folded[folded["split"] == split]


def question_texts(folded: pd.DataFrame, split: str) -> set[str]:
    return {" ".join(text.lower().split()) for text in part(folded, split)["question"]}


@settings(max_examples=12)
@given(QUESTIONS, st.integers(2, 5))
def test_folds_test_disjoint_questions_and_hold_all_pairs(make_questions, questions, folds):
    corpus = make_questions(questions)
    is_answerable = corpus.groupby(["split", "question_id"])["label"].transform("max") == 1
    expected = corpus[is_answerable].reset_index(drop=True)
    for name in ("question_id", "candidate_id"):
        expected[name] = expected["split"] + ":" + expected[name]
    tested = []
    for folded in all_folds(corpus, folds):
        assert list(folded.columns) == CORPUS.names
        assert folded["split"].map(SPLITS.index).is_monotonic_increasing
        columns = [name for name in CORPUS.names if name != "split"]
        merged = folded.merge(expected, on=columns, how="outer", indicator=True)
        assert len(folded) == len(expected) and (merged["_merge"] == "both").all()
        train, dev, test = (question_texts(folded, split) for split in SPLITS)
        assert not (train & dev or train & test or dev & test)
        tested.append(test)
    assert sum(map(len, tested)) == len(set.union(*tested))
    assert set.union(*tested) == {" ".join(text.lower().split()) for text in expected["question"]}
    for question_type in ("who", "when", "what"):
        sizes = [sum(text.startswith(question_type) for text in texts) for texts in tested]
        assert max(sizes) - min(sizes) <= 1


@settings(max_examples=12)
@given(QUESTIONS, st.lists(st.sampled_from(["", *"abcdef"]), min_size=1), st.integers(2, 5))
def test_an_article_is_on_one_side_of_each_fold(make_questions, questions, articles, folds):
    corpus = make_questions(questions)
    numbers = corpus.groupby(["split", "question_id"]).ngroup()
    # Questions that QUESTION does not draw have no article, so that there are enough for all folds.
    can_have_article = corpus["question"].str.contains(r"\b\d\b")
    articles = numbers.map(lambda number: articles[number % len(articles)])
    corpus["article"] = articles.where(can_have_article, "")
    corpus["id"] = fold_ids(corpus, "question_id")
    article_of = corpus.set_index("id")["article"].to_dict()
    tested = []
    for folded in all_folds(corpus, folds):
        assert list(folded.columns) == CORPUS.names
        for sides in (
            [{*part(folded, split)["question_id"].map(article_of)} - {""} for split in SPLITS],
            [question_texts(folded, split) for split in SPLITS],
        ):
            assert sum(map(len, sides)) == len(set.union(*sides))
        tested += part(folded, "test")["question_id"].unique().tolist()
    assert sorted(tested) == sorted(corpus[corpus["label"] == 1]["id"].unique())


def test_folds_are_reproducible_and_stratified_by_original_split(make_questions):
    questions = [
        (split, question_type, 20 * position + number, str, True)
        for position, split in enumerate(SPLITS)
        for question_type in ("who", "when")
        for number in range(15)
    ]
    corpus = make_questions(questions)
    pd.testing.assert_frame_equal(fold_corpus(corpus, 1, 5), fold_corpus(corpus, 1, 5))
    for folded in all_folds(corpus, 5):
        test = part(folded, "test").drop_duplicates("question_id")
        origins = test["question_id"].map(original_split) + " " + test["question_type"]
        assert origins.value_counts().tolist() == [3] * 6
        # Every eighth of the other 72 goes to dev.
        assert [len(question_texts(folded, split)) for split in SPLITS] == [63, 9, 18]
    devs = [question_texts(folded, "dev") for folded in all_folds(corpus, 5)]
    assert len(set.union(*devs)) == 5 * 9


@settings(max_examples=12)
@given(QUESTIONS, st.integers(2, 5), st.integers(0, 99))
def test_every_partition_tests_each_question_once(make_questions, questions, folds, partition):
    corpus = make_questions(questions)
    first, again = (
        [fold_corpus(corpus, number, folds, partition) for number in range(1, folds + 1)]
        for _ in range(2)
    )
    for folded, same in zip(first, again, strict=True):
        pd.testing.assert_frame_equal(folded, same)
    tested = pd.concat([part(folded, "test") for folded in first])
    keys = ["question_id", "candidate_id"]
    assert not tested.duplicated(keys).any()
    assert set(tested["candidate_id"]) == set(first[0]["candidate_id"])


def test_partitions_differ_and_the_first_one_is_the_default(make_questions):
    corpus = make_questions(("train", "who", number, str, True) for number in range(40))
    tested = [question_texts(fold_corpus(corpus, 1, 5, number), "test") for number in range(10)]
    assert len(set(map(frozenset, tested))) == 10
    pd.testing.assert_frame_equal(fold_corpus(corpus, 1, 5), fold_corpus(corpus, 1, 5, 0))


@pytest.mark.parametrize(
    ("questions", "number", "folds", "missing"),
    [(3, 4, 5, "test"), (2, 2, 2, "train"), (2, 3, 3, "test"), (1, 1, 2, "dev, train")],
)
def test_too_few_questions_are_refused(make_questions, questions, number, folds, missing):
    message = rf"Fold {number} of {folds} of {questions} questions .* {missing}\. .*folds"
    with pytest.raises(AnalogyQAError, match=message):
        fold_corpus(make_questions(ENOUGH[:questions]), number, folds)


def test_shared_texts_are_counted_without_case(make_corpus):
    corpus = make_corpus(
        [
            ("train", "who is it ?", [("Anna", 1), ("bruno", 0)]),
            ("dev", "when is  it ?", [("1901", 1)]),
            ("test", "Who is it ?", [("clara", 1), ("Bruno ", 0)]),
            ("test", "When is it ?", [("anna", 1), ("1901", 0), ("1950", 0)]),
            ("test", "where is it ?", [("rome", 1), ("rome", 0)]),
        ]
    )
    counts = {"questions": 2, "of_questions": 3, "candidates": 3, "of_candidates": 7}
    assert count_shared(corpus) == counts
    assert count_shared(corpus[corpus["split"] == "test"])["candidates"] == 0


def test_restrict_to_fold_gives_the_pairs_of_the_fold(corpus):
    folded = fold_corpus(corpus, 2, 3)
    folded = folded[folded["question_id"] != part(folded, "test")["question_id"].iloc[0]]
    names = ["split", "candidate_id"]
    pd.testing.assert_frame_equal(
        restrict_to_fold(corpus, folded).sort_values(names, ignore_index=True),
        folded.sort_values(names, ignore_index=True),
    )


TYPES = {"who": ["who", "whom"], "when": ["when"], "where": ["where"]}


@pytest.mark.parametrize(
    ("question", "question_type"),
    [
        ("who wrote it ?", "who"),
        ("Whom did it help ?", "who"),
        ("WHEN was it ?", "when"),
        (" \twhere is it ?", "where"),
        ("where", "where"),
        ("Who's there ?", None),
        ("whose is it ?", None),
        ("who? me", None),
        ("In when was it ?", None),
        ("", None),
        (" ", None),
    ],
)
def test_the_first_lower_cased_token_gives_the_type(question, question_type):
    assert classify_question(question, TYPES) == question_type


@pytest.mark.parametrize(
    ("types", "names"),
    [(["when"], {"when"}), (["who", "where"], {"who", "where"}), (None, {*TYPES, OTHER})],
)
@pytest.mark.parametrize("split", ["train", "dev"])
def test_a_subset_keeps_the_order_of_questions(corpus, tmp_path, split, types, names):
    pairs = select_subset(corpus, split, types)
    assert (set(pairs["split"]), set(pairs["question_type"])) == ({split}, names)
    expected = corpus[corpus["split"] == split]
    expected = expected[expected["candidate_id"].isin(pairs["candidate_id"])].reset_index(drop=True)
    pd.testing.assert_frame_equal(pairs.drop(columns="question_type"), expected[CORPUS.names[:-1]])
    write_table(corpus, CORPUS, tmp_path / "corpus")  # makes its columns categorical
    from_parquet = select_subset(read_table(tmp_path / "corpus", CORPUS), split, types)
    assert from_parquet.astype(object).equals(pairs.astype(object))


def test_subset_all_has_every_answerable_question(make_corpus):
    questions = [
        ("dev", "who is it ?", [("anna", 1), ("nobody", 0)]),
        ("dev", "who is never found ?", [("nobody", 0)]),
        ("dev", "what is it ?", [("a thing", 0), ("it", 1)]),
        ("test", "what is never found ?", [("nothing", 0)]),
    ]
    corpus = make_corpus(questions)
    pairs = select_subset(corpus, "dev", None)
    assert pairs["candidate_id"].tolist() == ["q0-0", "q0-1", "q2-0", "q2-1"]
    assert pairs["question_type"].tolist() == ["who", "who", OTHER, OTHER]
    assert corpus["question_type"].isna().sum() == 4  # the corpus itself keeps them untyped
    for split in ("train", "test"):
        assert select_subset(corpus, split, None).empty
        assert list(select_subset(corpus, split, None).columns) == CORPUS.names


SHARES = st.floats(0.01, 1)


def training_part(corpus):
    return corpus[corpus["split"] == "train"]


def count_questions(corpus):
    train = training_part(corpus).fillna({"question_type": ""})
    return train.groupby("question_type")["question_id"].nunique().to_dict()


@given(share=SHARES)
def test_the_share_of_each_type_is_rounded_up(corpus, share):
    rounded = {name: math.ceil(n * share) for name, n in count_questions(corpus).items()}
    assert count_questions(keep_train_share(corpus, share)) == rounded


@given(shares=st.tuples(SHARES, SHARES))
def test_shares_are_nested(corpus, shares):
    small, large = (training_part(keep_train_share(corpus, share)) for share in sorted(shares))
    assert set(small["candidate_id"]) <= set(large["candidate_id"])


@pytest.mark.parametrize("share", [0.2, 0.5, 1])
def test_candidates_and_other_splits_are_complete(corpus, share):
    kept = keep_train_share(corpus, share)
    is_kept = corpus["question_id"].isin(training_part(kept)["question_id"])
    is_kept |= corpus["split"] != "train"
    pd.testing.assert_frame_equal(kept, corpus[is_kept].reset_index(drop=True))
