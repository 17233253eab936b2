"""Subsample the training questions, for learning curves."""

import numpy as np
import pandas as pd

_SEED = 0  # shuffles the questions; fixed, so that every run has the same subsamples


def keep_train_share(corpus: pd.DataFrame, share: float) -> pd.DataFrame:
    """Return a corpus with a share of its training questions, stratified by type.

    Subsamples are nested: a larger share contains the questions of a smaller one. At least one
    question of each type remains.

    Args:
        corpus: table with schema CORPUS.
        share: the fraction to keep, above 0 and up to 1.
    """
    train = corpus[corpus["split"] == "train"]
    questions = train.drop_duplicates("question_id").set_index("question_id")["question_type"]
    order = np.random.default_rng(_SEED).permutation(len(questions))
    types = questions.astype(object).fillna("").iloc[order]
    is_kept = types.groupby(types).cumcount() < types.map(types.value_counts()) * share
    has_kept_id = corpus["question_id"].isin(types.index[is_kept])
    return corpus[has_kept_id | (corpus["split"] != "train")].reset_index(drop=True)
