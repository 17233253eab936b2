"""Shares of the training questions are nested and take whole questions of each type."""

import math

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analogyqa.corpora.questions import keep_train_share

SHARES = st.floats(0.01, 1)


def train_of(corpus):
    return corpus[corpus["split"] == "train"]


def count_questions(corpus):
    """Return the number of training questions of each type."""
    train = train_of(corpus).fillna({"question_type": ""})
    return train.groupby("question_type")["question_id"].nunique().to_dict()


@given(share=SHARES)
def test_the_share_of_each_type_is_rounded_up(corpus, share):
    rounded = {name: math.ceil(n * share) for name, n in count_questions(corpus).items()}
    assert count_questions(keep_train_share(corpus, share)) == rounded


@given(shares=st.tuples(SHARES, SHARES))
def test_shares_are_nested(corpus, shares):
    small, large = (train_of(keep_train_share(corpus, share)) for share in sorted(shares))
    assert set(small["candidate_id"]) <= set(large["candidate_id"])


@pytest.mark.parametrize("share", [0.2, 0.5, 1])
def test_candidates_and_other_splits_are_complete(corpus, share):
    kept = keep_train_share(corpus, share)
    is_kept = corpus["question_id"].isin(train_of(kept)["question_id"]) | (
        corpus["split"] != "train"
    )
    pd.testing.assert_frame_equal(kept, corpus[is_kept].reset_index(drop=True))
