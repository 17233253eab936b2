"""The prototypes: correct training pairs that every other pair is compared with."""

import zlib
from typing import Literal

import numpy as np
import pandas as pd

from analogyqa.errors import AnalogyQAError
from analogyqa.question_types import types_of
from analogyqa.schemas import PROTOTYPES


def choose_prototypes(
    corpus: pd.DataFrame,
    subset: str,
    seed: int,
    choice: Literal["pair", "question"] = "pair",
    dataset: str = "the data set",
) -> pd.DataFrame:
    """Choose a prototype from every training question of a subset, in a seeded order.

    The correct pairs are shuffled and the first of each question is kept. With `pair` the questions
    stand in the order of these pairs, so that those with many correct candidates tend to come
    early; with `question` the questions are shuffled once more, so that each comes early as often.

    Returns:
        A table of schema PROTOTYPES. `rank` counts from 0 within each question type; the prototypes
        of number p are the rows with rank < p, so a smaller set is part of a larger one. `comb`
        holds the same prototypes as the subsets of its types.

    Raises AnalogyQAError when the training split of `dataset` has no such question of a type.
    """
    correct = corpus[(corpus["split"] == "train") & (corpus["label"] == 1)]
    for kind in types_of(subset):
        if not (correct["question_type"] == kind).any():
            raise AnalogyQAError(
                f"{dataset}: no {kind} question of its training split has a correct candidate, so "
                f"there is no prototype for {subset}. Leave {subset} out (subsets) or add such "
                f"questions to the file of datasets.{dataset}.train."
            )
    parts = [_of_type(correct, kind, seed, choice) for kind in types_of(subset)]
    return pd.concat(parts, ignore_index=True)[PROTOTYPES.names]


def _of_type(correct: pd.DataFrame, kind: str, seed: int, choice: str) -> pd.DataFrame:
    generator = np.random.default_rng([seed, zlib.crc32(kind.encode())])
    shuffled = correct[correct["question_type"] == kind].sample(frac=1, random_state=generator)
    chosen = shuffled.drop_duplicates("question_id")
    if choice == "question":
        chosen = chosen.sample(frac=1, random_state=generator)
    return chosen.assign(rank=np.arange(len(chosen)))


def take(prototypes: pd.DataFrame, subset: str, p: int, origin: str) -> pd.DataFrame:
    """Return the p prototypes of each question type of a subset.

    Raises AnalogyQAError when a type has fewer; `origin` is the file they came from.
    """
    counts = prototypes["question_type"].astype(str).value_counts()
    for kind in types_of(subset):
        count = counts.get(kind, 0)
        if count < p:
            raise AnalogyQAError(
                f"{origin}: only {count} {kind} prototypes, prototypes.p or prototypes.curve asks "
                f"for {p}; allowed: 1 to {count}"
            )
    return prototypes[prototypes["rank"] < p].reset_index(drop=True)
