"""Cross-validation: every question is tested once, by a model that was trained without it."""

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
SPELLINGS = (str, str.upper, str.title, lambda text: f"  {text.replace(' ', '   ')} ")
# Split, type, number, spelling, whether there is a correct candidate.
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


def question_texts(corpus: pd.DataFrame) -> set[str]:
    return {" ".join(text.lower().split()) for text in corpus["question"]}


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
def test_every_answerable_question_is_tested_in_exactly_one_fold(make_questions, questions, folds):
    corpus = make_questions(questions)
    own = answerable(corpus)
    expected = sorted(set(own["split"] + ":" + own["question_id"]))
    all_parts = all_folds(corpus, folds)
    tested = [part(folded, "test")["question_id"].unique() for folded in all_parts]
    assert sorted(name for names in tested for name in names) == expected
    for folded in all_parts:  # and is in every fold, in one split
        splits = folded.groupby("question_id")["split"].nunique()
        assert (sorted(splits.index), set(splits)) == (expected, {1})


@few
@given(QUESTIONS, FOLDS)
def test_a_question_text_is_in_one_split_only(make_questions, questions, folds):
    for folded in all_folds(make_questions(questions), folds):
        train, dev, test = (question_texts(part(folded, split)) for split in SPLITS)
        assert not (train & dev or train & test or dev & test)


@few
@given(QUESTIONS, FOLDS)
def test_fold_sizes_differ_by_at_most_one_question_of_each_type(make_questions, questions, folds):
    all_parts = all_folds(make_questions(questions), folds)
    for question_type in ("who", "when", "what"):
        tested = (question_texts(part(folded, "test")) for folded in all_parts)
        sizes = [sum(text.startswith(question_type) for text in texts) for texts in tested]
        assert max(sizes) - min(sizes) <= 1


@few
@given(QUESTIONS, FOLDS)
def test_a_fold_has_all_pairs_with_ids_that_name_the_original_split(
    make_questions, questions, folds
):
    corpus = make_questions(questions)
    expected = answerable(corpus)
    for name in ("question_id", "candidate_id"):
        expected[name] = expected["split"] + ":" + expected[name]
    expected = expected.drop(columns="split").sort_values("candidate_id", ignore_index=True)
    for folded in all_folds(corpus, folds):
        assert list(folded.columns) == CORPUS.names
        assert folded["split"].map(SPLITS.index).is_monotonic_increasing
        same = folded.drop(columns="split").sort_values("candidate_id", ignore_index=True)
        pd.testing.assert_frame_equal(same, expected, check_dtype=False)


def test_the_same_question_in_several_splits_is_tested_together(corpus):
    """Every split of the toy corpus has the same questions."""
    found = [
        [*map(original_split, ids)]
        for folded in all_folds(corpus, 3)
        if len(ids := part(folded, "test").query("question == 'who is thing 1 ?'")["question_id"])
    ]
    assert [sorted(set(origins)) for origins in found] == [sorted(SPLITS)]


def test_folds_are_stratified_by_original_split(make_questions):
    questions = [
        (split, kind, 20 * place + number, str, True)
        for place, split in enumerate(SPLITS)
        for kind in ("who", "when")
        for number in range(15)
    ]
    for folded in all_folds(make_questions(questions), 5):
        test = part(folded, "test").drop_duplicates("question_id")
        places = test["question_id"].map(original_split) + " " + test["question_type"]
        assert set(places.value_counts()) == {3}
        assert places.nunique() == 6
        # Every eighth of the other 72 goes to dev.
        assert [len(question_texts(part(folded, split))) for split in SPLITS] == [63, 9, 18]


def test_folds_are_reproducible_and_disjoint(corpus):
    pd.testing.assert_frame_equal(fold_corpus(corpus, 1, 3), fold_corpus(corpus, 1, 3))
    first, second = (
        question_texts(part(fold_corpus(corpus, number, 3), "test")) for number in (1, 2)
    )
    assert not first & second


@pytest.mark.parametrize(
    ("questions", "number", "folds", "missing"),
    [(3, 4, 5, "test"), (2, 2, 2, "train"), (2, 3, 3, "test"), (1, 1, 2, "dev, train")],
)
def test_too_few_questions_are_refused(make_questions, questions, number, folds, missing):
    message = rf"Fold {number} of {folds} of {questions} questions .* {missing}\. .*folds"
    with pytest.raises(AnalogyQAError, match=message):
        fold_corpus(make_questions(ENOUGH[:questions]), number, folds)


# No leak


def with_row(folded: pd.DataFrame, row: pd.DataFrame, **changes) -> pd.DataFrame:
    return pd.concat([folded, row.assign(**changes)], ignore_index=True)


def trained_on(split, write=str):
    def leak(folded):
        row = part(folded, "test").head(1)
        return with_row(folded, row, split=split, question=row["question"].map(write))

    return leak


def replace_in_train(**changes):
    def leak(folded):
        row = part(folded, "train").query("label == 0").head(1)
        return with_row(folded.drop(row.index), row, **changes)

    return leak


@pytest.mark.parametrize(
    ("leak", "counts"),
    [
        (trained_on("train"), (1, 0)),
        (trained_on("dev"), (1, 0)),
        (trained_on("train", str.upper), (1, 1)),  # an upper-cased pair is not in the data set
        (replace_in_train(candidate="a new one"), (0, 1)),
        (replace_in_train(question="who is new ?"), (0, 1)),
        (replace_in_train(label=1), (0, 1)),
    ],
)
def test_planted_leak_is_refused(make_questions, leak, counts):
    corpus = make_questions(ENOUGH)
    folded = fold_corpus(corpus, 1, 3)
    require_no_leak(folded, corpus)
    message = "{} of its test questions .* {} of its pairs".format(*counts)
    with pytest.raises(AnalogyQAError, match=message):
        require_no_leak(leak(folded), corpus)


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
    assert count_shared(corpus) == {
        "questions": 2,
        "of_questions": 3,
        "candidates": 3,
        "of_candidates": 7,
    }
    assert count_shared(corpus[corpus["split"] == "test"])["candidates"] == 0


# Tables of a data set


def test_restrict_to_fold_gives_the_pairs_of_the_fold(corpus):
    folded = fold_corpus(corpus, 2, 3)
    names = ["split", "candidate_id"]
    pd.testing.assert_frame_equal(
        restrict_to_fold(corpus, folded).sort_values(names, ignore_index=True),
        folded.sort_values(names, ignore_index=True),
    )


def test_restrict_to_fold_drops_other_questions(corpus):
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
def test_a_fold_id_names_the_original_split(item, split):
    assert original_split(item) == split


def test_normalise_texts_ignores_case_and_spaces():
    texts = pd.Series(["Who is it ?", " who  IS\tit ? ", "who is it?"])
    assert normalise_texts(texts).tolist() == ["who is it ?"] * 2 + ["who is it?"]
