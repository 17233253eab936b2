"""Cross-validation: every question is tested once, by a model that was trained without it."""

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analogyqa.corpora.questions import (
    count_shared,
    fold_corpus,
    normalise_texts,
    original_split,
    restrict_to_fold,
)
from analogyqa.errors import AnalogyQAError
from analogyqa.schemas import CORPUS, ENTITIES, SPLITS

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
        pd.testing.assert_frame_equal(
            *(
                table.drop(columns="split").sort_values("candidate_id", ignore_index=True)
                for table in (folded, expected)
            ),
            check_dtype=False,
        )
        train, dev, test = (question_texts(folded, split) for split in SPLITS)
        assert not (train & dev or train & test or dev & test)
        tested.append(test)
    assert sum(map(len, tested)) == len(set.union(*tested))
    assert set.union(*tested) == {" ".join(text.lower().split()) for text in expected["question"]}
    for question_type in ("who", "when", "what"):
        sizes = [sum(text.startswith(question_type) for text in texts) for texts in tested]
        assert max(sizes) - min(sizes) <= 1


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
    names = ["split", "candidate_id"]
    pd.testing.assert_frame_equal(
        restrict_to_fold(corpus, folded).sort_values(names, ignore_index=True),
        folded.sort_values(names, ignore_index=True),
    )


def test_restrict_to_fold_drops_other_questions(corpus):
    folded = fold_corpus(corpus, 1, 3)
    folded = folded[folded["question_id"] != part(folded, "test")["question_id"].iloc[0]]
    entities = corpus[["split", "question_id", "candidate_id"]].assign(
        entity="anna", entity_type="PERSON"
    )
    restricted = restrict_to_fold(entities, folded)
    assert list(restricted.columns) == ENTITIES.names
    splits = restricted.set_index("candidate_id")["split"].to_dict()
    assert splits == folded.set_index("candidate_id")["split"].to_dict()


@pytest.mark.parametrize(("question_id", "split"), [("dev:Q12", "dev"), ("train:a:b", "train")])
def test_a_fold_id_names_the_original_split(question_id, split):
    assert original_split(question_id) == split


def test_normalise_texts_keeps_only_letters_and_digits():
    texts = pd.Series(["Who is it ?", " who  IS\tit ? ", "who is it?"])
    assert normalise_texts(texts).tolist() == ["whoisit"] * 3
