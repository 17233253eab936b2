"""Cross-validation tests every question by what was trained without it."""

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analogyqa.corpora.folds import (
    count_shared,
    fold_corpus,
    normalise_texts,
    original_split,
    require_no_leak,
    restrict_to_fold,
)
from analogyqa.errors import AnalogyQAError
from analogyqa.schemas import CORPUS, ENTITIES, SPLITS

few = settings(max_examples=12)
FOLDS = st.integers(2, 5)
WRITTEN = (str, str.upper, str.title, lambda text: f"  {text.replace(' ', '   ')} ")
# A split, a type, a number, how it is written, and whether it has a correct candidate.
ASKED = st.tuples(
    st.sampled_from(SPLITS),
    st.sampled_from(["who", "when", "what"]),
    st.integers(0, 9),
    st.sampled_from(WRITTEN),
    st.booleans(),
)
ENOUGH = [("train", "who", number, str, True) for number in range(10, 16)]
# One text, in each split and written otherwise.
AGAIN = [(split, "when", 10, write, True) for split, write in zip(SPLITS, WRITTEN[1:], strict=True)]
QUESTIONS = st.lists(ASKED, max_size=25).map(lambda asked: ENOUGH + AGAIN + asked)


def said(text: str) -> str:
    return " ".join(text.lower().split())


def texts_of(corpus: pd.DataFrame) -> set[str]:
    return set(map(said, corpus["question"]))


@pytest.fixture(scope="session")
def asked_corpus(make_corpus):
    """Questions as a corpus in whose splits the same ids come again."""

    def build(asked) -> pd.DataFrame:
        own = {split: [] for split in SPLITS}
        for split, kind, number, write, right in asked:
            candidates = [(f"{kind} {number}", int(right)), ("no answer", 0)]
            own[split].append((split, write(f"{kind} is {number} ?"), candidates))
        return pd.concat([make_corpus(questions) for questions in own.values()], ignore_index=True)

    return build


def answerable(corpus: pd.DataFrame) -> pd.DataFrame:
    right = corpus.groupby(["split", "question_id"])["label"].transform("max")
    return corpus[right == 1].reset_index(drop=True)


def all_folds(corpus: pd.DataFrame, folds: int) -> list[pd.DataFrame]:
    return [fold_corpus(corpus, number, folds) for number in range(1, folds + 1)]


def part(folded: pd.DataFrame, split: str) -> pd.DataFrame:
    return folded[folded["split"] == split]


# The folds


@few
@given(QUESTIONS, FOLDS)
def test_each_answerable_question_is_tested_in_exactly_one_fold(asked_corpus, asked, folds):
    corpus = asked_corpus(asked)
    own = answerable(corpus)
    expected = sorted(set(own["split"] + ":" + own["question_id"]))
    cut = all_folds(corpus, folds)
    tested = [part(folded, "test")["question_id"].unique() for folded in cut]
    assert sorted(name for names in tested for name in names) == expected
    for folded in cut:  # and stands in each, in one split
        splits = folded.groupby("question_id")["split"].nunique()
        assert (sorted(splits.index), set(splits)) == (expected, {1})


@few
@given(QUESTIONS, FOLDS)
def test_a_question_text_stands_in_one_split_only(asked_corpus, asked, folds):
    for folded in all_folds(asked_corpus(asked), folds):
        train, dev, test = (texts_of(part(folded, split)) for split in SPLITS)
        assert not (train & dev or train & test or dev & test)


@few
@given(QUESTIONS, FOLDS)
def test_the_folds_of_a_type_differ_by_one_question_at_most(asked_corpus, asked, folds):
    cut = all_folds(asked_corpus(asked), folds)
    for kind in ("who", "when", "what"):
        tested = (texts_of(part(folded, "test")) for folded in cut)
        sizes = [sum(text.startswith(kind) for text in texts) for texts in tested]
        assert max(sizes) - min(sizes) <= 1


@few
@given(QUESTIONS, FOLDS)
def test_a_fold_has_the_pairs_of_the_data_set_under_ids_of_where_they_are_from(
    asked_corpus, asked, folds
):
    corpus = asked_corpus(asked)
    own = answerable(corpus)
    for name in ("question_id", "candidate_id"):
        own[name] = own["split"] + ":" + own[name]
    own = own.drop(columns="split").sort_values("candidate_id", ignore_index=True)
    for folded in all_folds(corpus, folds):
        assert list(folded.columns) == CORPUS.names
        assert folded["split"].map(SPLITS.index).is_monotonic_increasing
        same = folded.drop(columns="split").sort_values("candidate_id", ignore_index=True)
        pd.testing.assert_frame_equal(same, own, check_dtype=False)


def test_one_text_of_several_splits_is_tested_together(corpus):
    """In the toy corpus each split has these questions."""
    found = [
        [*map(original_split, ids)]
        for folded in all_folds(corpus, 3)
        if len(ids := part(folded, "test").query("question == 'who is thing 1 ?'")["question_id"])
    ]
    assert [sorted(set(origins)) for origins in found] == [sorted(SPLITS)]


def test_the_questions_of_each_split_are_dealt_out_evenly(asked_corpus):
    asked = [
        (split, kind, 20 * place + number, str, True)
        for place, split in enumerate(SPLITS)
        for kind in ("who", "when")
        for number in range(15)
    ]
    for folded in all_folds(asked_corpus(asked), 5):
        test = part(folded, "test").drop_duplicates("question_id")
        places = test["question_id"].map(original_split) + " " + test["question_type"]
        assert set(places.value_counts()) == {3}
        assert places.nunique() == 6
        # Of the 72 others every eighth is of the dev split.
        assert [len(texts_of(part(folded, split))) for split in SPLITS] == [63, 9, 18]


def test_the_folds_are_the_same_each_time_and_differ_from_each_other(corpus):
    pd.testing.assert_frame_equal(fold_corpus(corpus, 1, 3), fold_corpus(corpus, 1, 3))
    first, second = (texts_of(part(fold_corpus(corpus, number, 3), "test")) for number in (1, 2))
    assert not first & second


@pytest.mark.parametrize(
    ("questions", "number", "folds", "missing"),
    [(3, 4, 5, "test"), (2, 2, 2, "train"), (2, 3, 3, "test"), (1, 1, 2, "dev, train")],
)
def test_too_few_questions_for_the_folds_are_refused(
    asked_corpus, questions, number, folds, missing
):
    message = rf"fold {number} of {folds}: {questions} questions leave none for {missing}\. .*"
    with pytest.raises(AnalogyQAError, match=message + r"\(cross_validation\.folds\)"):
        fold_corpus(asked_corpus(ENOUGH[:questions]), number, folds)


# No leak


def with_row(folded: pd.DataFrame, row: pd.DataFrame, **changes) -> pd.DataFrame:
    return pd.concat([folded, row.assign(**changes)], ignore_index=True)


def trained_on(split, write=str):
    def leak(folded):
        row = part(folded, "test").head(1)
        return with_row(folded, row, split=split, question=row["question"].map(write))

    return leak


def changed(**changes):
    def leak(folded):
        row = part(folded, "train").query("label == 0").head(1)
        return with_row(folded.drop(row.index), row, **changes)

    return leak


@pytest.mark.parametrize(
    ("leak", "message"),
    [
        (trained_on("train"), "1 of its test questions .* 0 of its pairs"),
        (trained_on("dev"), "1 of its test questions .* 0 of its pairs"),
        # Written otherwise it is not the data set's, either.
        (trained_on("train", str.upper), "1 of its test questions .* 1 of its pairs"),
        (changed(candidate="a new one"), "0 of its test questions .* 1 of its pairs"),
        (changed(question="who is new ?"), "0 of its test questions .* 1 of its pairs"),
        (changed(label=1), "0 of its test questions .* 1 of its pairs"),
    ],
)
def test_a_planted_leak_is_refused(asked_corpus, leak, message):
    corpus = asked_corpus(ENOUGH)
    folded = fold_corpus(corpus, 1, 3)
    require_no_leak(folded, corpus)
    with pytest.raises(AnalogyQAError, match=f"a fold leaks: {message}"):
        require_no_leak(leak(folded), corpus)


def test_what_the_test_split_shares_is_counted_by_lower_cased_text(make_corpus):
    corpus = make_corpus(
        [
            ("train", "who is it ?", [("Anna", 1), ("bruno", 0)]),
            ("dev", "when is  it ?", [("1901", 1)]),
            ("test", "Who is it ?", [("clara", 1), ("Bruno ", 0)]),
            ("test", "When is it ?", [("anna", 1), ("1901", 0), ("1950", 0)]),
            ("test", "where is it ?", [("rome", 1), ("rome", 0)]),
        ]
    )
    assert count_shared(corpus) == {
        "questions": 2,
        "of_questions": 3,
        "candidates": 3,
        "of_candidates": 7,
    }
    assert count_shared(corpus[corpus["split"] == "test"])["candidates"] == 0


# Tables of a data set


def test_a_table_of_the_data_set_becomes_one_of_the_fold(corpus):
    folded = fold_corpus(corpus, 2, 3)
    names = ["split", "candidate_id"]
    pd.testing.assert_frame_equal(
        restrict_to_fold(corpus, folded).sort_values(names, ignore_index=True),
        folded.sort_values(names, ignore_index=True),
    )


def test_entities_of_other_questions_are_dropped(corpus):
    folded = fold_corpus(corpus, 1, 3)
    entities = corpus[["split", "question_id", "candidate_id"]].assign(
        entity="anna", entity_type="PERSON"
    )
    gone = part(folded, "test")["question_id"].iloc[0]
    found = restrict_to_fold(entities, folded[folded["question_id"] != gone])
    assert list(found.columns) == ENTITIES.names
    places = folded.set_index("candidate_id")["split"].drop(
        folded.loc[folded["question_id"] == gone, "candidate_id"]
    )
    assert dict(zip(found["candidate_id"], found["split"], strict=True)) == places.to_dict()


@pytest.mark.parametrize(("item", "split"), [("dev:Q12", "dev"), ("train:a:b", "train")])
def test_an_id_says_where_a_question_is_from(item, split):
    assert original_split(item) == split


def test_texts_are_alike_whatever_their_case_and_spaces():
    texts = pd.Series(["Who is it ?", " who  IS\tit ? ", "who is it?"])
    assert normalise_texts(texts).tolist() == ["who is it ?"] * 2 + ["who is it?"]
