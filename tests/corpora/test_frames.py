"""A corpus from a data frame: that of a reader, with ids and splits that a frame may leave out."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analogyqa.corpora.frames import corpus_from_frame, load_sample, with_all_splits
from analogyqa.corpora.questions import normalise_texts
from analogyqa.corpora.table import build_corpus
from analogyqa.errors import AnalogyQAError
from analogyqa.schemas import CORPUS, write_table
from analogyqa.settings.load import REPOSITORY

TYPES = {"who": ["who"], "when": ["when"], "where": ["where"]}
FRAME = pd.DataFrame(
    {
        "question": ["who is it?", "when was it?", "who is it?"],
        "candidate": ["Ada", "1843", "London"],
        "label": [True, False, False],
        "other": [None, 1, "x"],
    }
)


def test_the_sample_is_what_its_reader_reads():
    folder = REPOSITORY / "sample" / "wikiqa"
    files = {split: str(folder / f"WikiQA-{split}.tsv") for split in ("train", "dev", "test")}
    expected = build_corpus("sample", "wikiqa", files, TYPES).astype(object)
    for frame in (load_sample(), expected, expected.astype({"label": float})):
        corpus = corpus_from_frame(frame, TYPES).astype(object)
        pd.testing.assert_frame_equal(corpus, expected)
        assert with_all_splits(corpus) is corpus


def test_ids_may_be_left_out(tmp_path):
    corpus = corpus_from_frame(FRAME, TYPES)
    assert corpus["question_id"].tolist() == ["q1", "q1", "q2"]
    assert corpus["candidate_id"].tolist() == ["q1-0", "q1-1", "q2-0"]
    assert corpus["candidate"].tolist() == ["Ada", "London", "1843"]
    # A question without a right answer has no type.
    assert corpus["question_type"].fillna("").tolist() == ["who", "who", ""]
    write_table(corpus, CORPUS, tmp_path / "corpus.parquet")


@given(st.lists(st.sampled_from(["who", "when", "what"]), min_size=3, max_size=60))
def test_missing_splits_get_a_tenth_of_the_questions_of_each_type(words):
    texts = [f"{word} is {number // 2}?" for number, word in enumerate(words)]
    questions = texts + [text.upper() for text in texts]  # copies of each question
    frame = pd.DataFrame({"question": questions, "candidate": "x", "label": 1})
    corpus = with_all_splits(corpus_from_frame(frame, TYPES))
    pd.testing.assert_frame_equal(corpus, with_all_splits(corpus_from_frame(frame, TYPES)))
    unique = corpus.assign(text=normalise_texts(corpus["question"]))
    assert unique.groupby("text")["split"].nunique().max() == 1
    unique = unique.drop_duplicates("text").fillna({"question_type": ""})
    for _, typed in unique.groupby("question_type"):
        counts = typed["split"].value_counts()
        assert counts["train"] >= counts.get("dev", 0) >= counts.get("test", 0)
        assert counts.get("dev", 0) == (len(typed) + 8) // 10


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"candidate": ["Ada", None, "x"]}, "row 1: the candidate is nan"),
        ({"question": ["who?", "who?", " "]}, "row 2: the question is empty"),
        ({"label": [0, 1, 2]}, "row 2: the label is 2, not 0 or 1"),
        ({"label": [0, None, 1]}, "row 1: the label is nan"),
        ({"split": ["train", "test", "valid"]}, "row 2: the split is valid, not train or dev"),
        ({"question_id": [1, 1, 1]}, "share the question_id '1'"),
        ({"candidate_id": ["a", "b", "a"]}, "share the candidate_id 'a'"),
    ],
)
def test_wrong_values_are_refused(changes, message):
    with pytest.raises(AnalogyQAError, match=message):
        corpus_from_frame(FRAME.assign(**changes), TYPES)


def test_a_missing_column_is_named():
    with pytest.raises(AnalogyQAError, match="no column candidate and no column label"):
        corpus_from_frame(FRAME[["question", "other"]], TYPES)
