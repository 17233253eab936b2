"""Choose prototypes: correct training pairs that all other pairs are compared with."""

import zlib
from collections.abc import Sequence

import numpy as np
import pandas as pd

from analogyqa.corpora.questions import select_subset
from analogyqa.errors import AnalogyQAError
from analogyqa.schemas import PROTOTYPES, SPLITS
from analogyqa.settings.data import OTHER, PrototypeChoice


def choose_prototypes(
    corpus: pd.DataFrame,
    types: Sequence[str] | None,
    seed: int,
    choice: PrototypeChoice = "pair",
    dataset: str = "the data set",
) -> pd.DataFrame:
    """Choose one prototype from every answerable training question, in random order.

    The correct pairs are shuffled, and the first pair of each question is kept. With `pair`, this
    order stays, so that questions with many correct candidates tend to come first. With `question`,
    the chosen pairs are shuffled again, so that all questions are equally likely to come first.
    With `other_type`, a control, they are chosen as with `pair`, and each type then has those of
    the next one, in a circle. `types` are the question types of the subset; None for `all`.

    Returns:
        A table with schema PROTOTYPES. `rank` counts from 0 within each question type. A set of p
        prototypes has the rows with rank < p, so smaller sets are contained in larger ones. The
        prototypes of a type are the same in every subset, except with `other_type`, where
        `question_type` is that of the questions which they are compared with.

    Raises:
        AnalogyQAError: when a type has no answerable training question. With `all`, this concerns
            the types in any split. With `other_type`, also when there is only one type.
    """
    pairs = select_subset(corpus, "train", types)
    correct = pairs[pairs["label"] == 1].reset_index(drop=True)
    if types is None:
        answerable = (select_subset(corpus, split, None) for split in SPLITS)
        types = sorted({name for rows in answerable for name in rows["question_type"]}) or [OTHER]
    if choice == "other_type" and len(types) == 1:
        raise AnalogyQAError(
            f"{dataset}: {types[0]} questions need prototypes of another type, and the subset has "
            "no other. Choose a subset with several types, or another prototype_choice."
        )
    parts = []
    for question_type in types:
        typed = correct[correct["question_type"] == question_type]
        if typed.empty:
            raise AnalogyQAError(
                f"{dataset}: no {question_type} question in the training split has a correct "
                f"candidate, so {question_type} has no prototypes. Remove the subsets of "
                f"{question_type} (subsets), or add such questions to datasets.{dataset}.train."
            )
        generator = np.random.default_rng([seed, zlib.crc32(question_type.encode())])
        chosen = typed.sample(frac=1, random_state=generator).drop_duplicates("question_id")
        if choice == "question":
            chosen = chosen.sample(frac=1, random_state=generator)
        parts.append(chosen.assign(rank=np.arange(len(chosen))))
    prototypes = pd.concat(parts, ignore_index=True)[PROTOTYPES.names]
    if choice == "other_type":
        previous = dict(zip(types, [types[-1], *types[:-1]], strict=True))
        prototypes["question_type"] = prototypes["question_type"].map(previous)
    return prototypes


def take_prototypes(
    prototypes: pd.DataFrame, types: Sequence[str] | None, p: int, origin: str
) -> pd.DataFrame:
    """Return the first p prototypes of each question type.

    Raises AnalogyQAError, which names `origin`, the file of the prototypes, when one of `types` has
    fewer than p. If `types` is None, for the subset `all`, rare types may have fewer.
    """
    for question_type in types or ():
        count = (prototypes["question_type"] == question_type).sum()
        if count < p:
            raise AnalogyQAError(
                f"{origin}: only {count} {question_type} prototypes, but p is {p}. Set "
                f"prototypes.p, or sweeps.p of a figure, to 1 to {count}."
            )
    return prototypes[prototypes["rank"] < p].reset_index(drop=True)
