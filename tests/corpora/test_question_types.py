"""Question types by the rule behind Table 2, and the subsets that they form."""

import pandas as pd
import pytest

from analogyqa.corpora.questions import OTHER, classify_question, select_subset
from analogyqa.schemas import CORPUS, read_table, write_table

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
