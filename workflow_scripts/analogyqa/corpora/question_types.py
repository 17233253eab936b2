"""The types of questions, by their first word, and the subsets that types make up."""

from collections.abc import Mapping, Sequence

import pandas as pd

from analogyqa.settings.data import OTHER
from analogyqa.text import nfc


def classify_question(question: str, question_types: Mapping[str, Sequence[str]]) -> str | None:
    """Return the type of a question, None where its first word makes none.

    The first word is the first white-space token, lower-cased, and must be a whole token of the
    type. For who, when and where, of the rules that were tried only this one, of questions that
    have a correct candidate, gives all 18 counts of Table 2 of the CoNLL paper.

    Args:
        question: its text.
        question_types: type to the first words that make it.
    """
    first = question.split(maxsplit=1)[:1]
    word = nfc(first[0]).lower() if first else ""
    return next((name for name, words in question_types.items() if word in words), None)


def select_subset(corpus: pd.DataFrame, split: str, types: Sequence[str] | None) -> pd.DataFrame:
    """Return the pairs of a split whose question is of one of the types; None is `all`."""
    pairs = corpus[corpus["split"] == split]
    if types is not None:
        return pairs[pairs["question_type"].isin(types)].reset_index(drop=True)
    pairs = pairs[pairs.groupby("question_id")["label"].transform("any")].reset_index(drop=True)
    return pairs.assign(question_type=pairs["question_type"].astype(object).fillna(OTHER))
