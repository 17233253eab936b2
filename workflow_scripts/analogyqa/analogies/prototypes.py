"""The prototypes: correct training pairs that every other pair is compared with."""

import zlib
from collections.abc import Sequence
from typing import Literal

import numpy as np
import pandas as pd

from analogyqa.corpora.question_types import select_subset
from analogyqa.errors import AnalogyQAError
from analogyqa.schemas import PROTOTYPES, SPLITS
from analogyqa.settings.data import OTHER


def choose_prototypes(
    corpus: pd.DataFrame,
    types: Sequence[str] | None,
    seed: int,
    choice: Literal["pair", "question"] = "pair",
    dataset: str = "the data set",
) -> pd.DataFrame:
    """Choose a prototype from every training question of some types, in a seeded order.

    The correct pairs are shuffled and the first of each question is kept. With `pair` the questions
    stand in the order of these pairs, so that those with many correct candidates tend to come
    early; with `question` the questions are shuffled once more, so that each comes early as often.

    Args:
        corpus: a table of schema CORPUS.
        types: of a subset, None for `all`.
        seed: of the order.
        choice: see above.
        dataset: for messages.

    Returns:
        A table of schema PROTOTYPES. `rank` counts from 0 within each question type; the prototypes
        of number p are the rows with rank < p, so a smaller set is part of a larger one. A subset
        of several types holds the same prototypes as the subsets of each.

    Raises AnalogyQAError when the training split of `dataset` has no such question of a type; in
    `all` these are the types of all splits.
    """
    pairs = select_subset(corpus, "train", types)
    correct = pairs[pairs["label"] == 1].reset_index(drop=True)
    for kind in (wanted := _types_of(corpus) if types is None else types):
        if not (correct["question_type"] == kind).any():
            raise AnalogyQAError(
                f"{dataset}: no {kind} question of its training split has a correct candidate, so "
                f"there is no prototype for {kind}. Leave the subsets of {kind} out (subsets) or "
                f"add such questions to the file of datasets.{dataset}.train."
            )
    parts = [_of_type(correct, kind, seed, choice) for kind in wanted]
    return pd.concat(parts, ignore_index=True)[PROTOTYPES.names]


def _types_of(corpus: pd.DataFrame) -> list[str]:
    found = {
        kind for split in SPLITS for kind in select_subset(corpus, split, None)["question_type"]
    }
    return sorted(found) or [OTHER]


def _of_type(correct: pd.DataFrame, kind: str, seed: int, choice: str) -> pd.DataFrame:
    generator = np.random.default_rng([seed, zlib.crc32(kind.encode())])
    shuffled = correct[correct["question_type"] == kind].sample(frac=1, random_state=generator)
    chosen = shuffled.drop_duplicates("question_id")
    if choice == "question":
        chosen = chosen.sample(frac=1, random_state=generator)
    return chosen.assign(rank=np.arange(len(chosen)))


def take_prototypes(
    prototypes: pd.DataFrame, types: Sequence[str] | None, p: int, origin: str
) -> pd.DataFrame:
    """Return the p prototypes of each question type of a subset.

    In `all`, with types None, a rare type may have fewer. Raises AnalogyQAError when another one
    has; `origin` is the file they came from.
    """
    counts = prototypes["question_type"].astype(str).value_counts()
    for kind in types or ():
        count = counts.get(kind, 0)
        if count < p:
            raise AnalogyQAError(
                f"{origin}: only {count} {kind} prototypes, p = {p} is asked for (prototypes.p, or "
                f"sweeps.p for the points of a figure); allowed: 1 to {count}"
            )
    return prototypes[prototypes["rank"] < p].reset_index(drop=True)
