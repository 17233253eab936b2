"""Cross-validation: folds of a data set by question, each tested by what the others trained."""

import numpy as np
import pandas as pd

from analogyqa.errors import AnalogyQAError
from analogyqa.schemas import CORPUS

# Of the questions that are not tested every so many-th chooses the epoch.
DEV_EVERY = 8
_SEED = 0  # of the order in which questions are dealt out; the folds are the same in every run


def fold_corpus(corpus: pd.DataFrame, number: int, folds: int) -> pd.DataFrame:
    """Return a corpus whose test split is one fold of all its answerable questions.

    The questions are dealt out to the folds type by type, and within a type split by split, so that
    the folds are alike. Those of one text stay together, whatever split they are from. Every eighth
    of the others is the dev split, the rest trains.

    Args:
        corpus: a table of schema CORPUS.
        number: of the fold, from 1.
        folds: how many there are.

    Returns:
        A table of schema CORPUS. An id begins with the split that it is from: `dev:Q12`.

    Raises AnalogyQAError when a split would be empty.
    """
    answerable = corpus.groupby(["split", "question_id"], observed=True)["label"].transform("any")
    corpus = corpus[answerable].reset_index(drop=True)
    origin = corpus["split"].astype(str)
    texts = normalise_texts(corpus["question"])
    kinds = corpus["question_type"].astype(object).fillna("")
    groups = pd.DataFrame({"text": texts, "kind": kinds, "origin": origin}).drop_duplicates("text")
    order = np.random.default_rng(_SEED).permutation(len(groups))
    groups = groups.iloc[order].sort_values(["kind", "origin"], kind="stable")
    dealt = np.arange(len(groups)) % folds == number - 1
    part = np.where(dealt, "test", "train").astype(object)
    part[np.flatnonzero(~dealt)[::DEV_EVERY]] = "dev"
    split = texts.map(dict(zip(groups["text"], part, strict=True)))
    if missing := {"train", "dev", "test"} - set(part):
        raise AnalogyQAError(
            f"fold {number} of {folds}: {len(groups)} questions leave none for "
            f"{', '.join(sorted(missing))}. Take fewer folds (cross_validation.folds)."
        )
    ids = {name: fold_ids(corpus, name) for name in ("question_id", "candidate_id")}
    order_of_splits = split.map({"train": 0, "dev": 1, "test": 2})
    folded = corpus.assign(split=split, **ids).iloc[order_of_splits.argsort(kind="stable")]
    folded = folded.reset_index(drop=True)[CORPUS.names]
    require_no_leak(folded, corpus)
    return folded


def restrict_to_fold(table: pd.DataFrame, folded: pd.DataFrame) -> pd.DataFrame:
    """Return a table of pairs of a data set with the splits and ids of a fold, less what it lacks.

    Args:
        table: columns split, question_id, candidate_id and others.
        folded: as `fold_corpus` returns it.
    """
    ids = {name: fold_ids(table, name) for name in ("question_id", "candidate_id")}
    splits = folded.drop_duplicates("question_id").set_index("question_id")["split"]
    table = table.assign(**ids, split=ids["question_id"].map(splits))
    return table[table["split"].notna()].reset_index(drop=True)


def fold_ids(table: pd.DataFrame, name: str) -> pd.Series:
    """Return a column of ids of a data set as its folds have them: `dev:Q12`."""
    return table["split"].astype(str) + ":" + table[name].astype(str)


def original_split(item: str) -> str:
    """Return the split of the data set that a question of a fold is from."""
    return item.partition(":")[0]


def require_no_leak(folded: pd.DataFrame, corpus: pd.DataFrame) -> None:
    """Raise AnalogyQAError where a fold knows more of its test questions than the data set has.

    A question text stands in one split only, and every pair is one of the data set's own.
    """
    counts = count_shared(folded)
    columns = ["question", "candidate", "label"]
    added = folded.merge(corpus[columns].drop_duplicates(), how="left", on=columns, indicator=True)
    foreign = int(added["_merge"].eq("left_only").sum())
    if counts["questions"] or foreign:
        raise AnalogyQAError(
            f"a fold leaks: {counts['questions']} of its test questions are in its training or dev "
            f"split, too, and {foreign} of its pairs are none of the data set's."
        )


def count_shared(corpus: pd.DataFrame) -> dict[str, int]:
    """Count what the test split shares with train and dev, by lower-cased text.

    Returns `questions`: test questions that are there, too; `candidates`: test candidates that are
    there as candidates of another question; `of_questions`, `of_candidates`: how many there are.
    """
    test = corpus["split"] == "test"
    counts = {}
    for column, ids in (("question", "question_id"), ("candidate", "candidate_id")):
        own = corpus[test].drop_duplicates(ids)
        others = set(normalise_texts(corpus.loc[~test, column]))
        counts[f"{column}s"] = int(normalise_texts(own[column]).isin(others).sum())
        counts[f"of_{column}s"] = len(own)
    return counts


def normalise_texts(texts: pd.Series) -> pd.Series:
    """Return texts in lower case, with single spaces."""
    return texts.str.casefold().str.split().str.join(" ")
