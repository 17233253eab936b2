"""Question types, given by a question's first word, and the subsets of a corpus by type."""

from collections.abc import Mapping, Sequence

import pandas as pd

from analogyqa.settings.data import OTHER
from analogyqa.text import nfc


def classify_question(question: str, question_types: Mapping[str, Sequence[str]]) -> str | None:
    """Return the type of a question, or None.

    The lower-cased first token must be one of a type's words. Applied to questions with a correct
    candidate, this rule gives all 18 counts of Table 2 of the CoNLL paper; other rules do not.
    """
    tokens = question.split(maxsplit=1)
    first = nfc(tokens[0]).lower() if tokens else ""
    return next((name for name, words in question_types.items() if first in words), None)


def select_subset(corpus: pd.DataFrame, split: str, types: Sequence[str] | None) -> pd.DataFrame:
    """Return the pairs of a split whose question has one of the types.

    With None (the subset `all`), return all answerable questions; those without a type get OTHER.
    """
    pairs = corpus[corpus["split"] == split]
    if types is not None:
        return pairs[pairs["question_type"].isin(types)].reset_index(drop=True)
    pairs = pairs[pairs.groupby("question_id")["label"].transform("any")].reset_index(drop=True)
    return pairs.assign(question_type=pairs["question_type"].astype(object).fillna(OTHER))
