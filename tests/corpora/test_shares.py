"""A share of the training questions: whole questions, nested, of each type alike."""

import math

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analogyqa.corpora.shares import keep_train_share

SHARES = st.floats(0.01, 1)


def train_of(corpus):
    return corpus[corpus["split"] == "train"]


def questions_of(corpus):
    """Return type to the training questions of it."""
    train = train_of(corpus).fillna({"question_type": ""})
    return {kind: set(own["question_id"]) for kind, own in train.groupby("question_type")}


@given(share=SHARES)
def test_the_share_of_each_type_is_rounded_up(corpus, share):
    before, after = questions_of(corpus), questions_of(keep_train_share(corpus, share))
    assert {kind: len(own) for kind, own in after.items()} == {
        kind: math.ceil(len(own) * share) for kind, own in before.items()
    }


@given(shares=st.tuples(SHARES, SHARES))
def test_shares_are_nested(corpus, shares):
    small, large = (train_of(keep_train_share(corpus, share)) for share in sorted(shares))
    assert set(small["candidate_id"]) <= set(large["candidate_id"])


@pytest.mark.parametrize("share", [0.2, 0.5])
def test_candidates_and_other_splits_are_complete(corpus, share):
    part = keep_train_share(corpus, share)
    train = train_of(part)
    whole = train_of(corpus)
    own = whole[whole["question_id"].isin(train["question_id"])].reset_index(drop=True)
    pd.testing.assert_frame_equal(train.reset_index(drop=True), own)
    for split in ("dev", "test"):
        assert part["split"].eq(split).sum() == corpus["split"].eq(split).sum()


def test_a_share_of_one_keeps_the_corpus(corpus):
    pd.testing.assert_frame_equal(keep_train_share(corpus, 1), corpus)
