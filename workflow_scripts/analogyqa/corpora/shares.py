"""A part of the training questions, for curves over how many there are."""

import numpy as np
import pandas as pd

_SEED = 0  # of the order in which questions are taken; it is the same in every run


def keep_train_share(corpus: pd.DataFrame, share: float) -> pd.DataFrame:
    """Return a corpus with a share of its training questions, of each type and of those of none.

    A larger share has all questions of a smaller one. Of a type that has a question one stays.

    Args:
        corpus: a table of schema CORPUS.
        share: above 0, up to 1.
    """
    train = corpus[corpus["split"] == "train"]
    questions = train.drop_duplicates("question_id").set_index("question_id")["question_type"]
    order = np.random.default_rng(_SEED).permutation(len(questions))
    kinds = questions.astype(object).fillna("").iloc[order]
    taken = kinds.groupby(kinds).cumcount() < kinds.map(kinds.value_counts()) * share
    kept = corpus["question_id"].isin(taken.index[taken])
    return corpus[kept | (corpus["split"] != "train")].reset_index(drop=True)
