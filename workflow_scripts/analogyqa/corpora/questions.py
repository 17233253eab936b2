"""The questions of a corpus: their types, subsets by type, folds for cross-validation, shares."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from analogyqa.errors import AnalogyQAError
from analogyqa.schemas import CORPUS
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


DEV_EVERY = 8  # every eighth question outside the test fold goes to the dev split
_SEED = 0  # shuffles the training questions; fixed, so that every run has the same subsamples


def fold_corpus(corpus: pd.DataFrame, number: int, folds: int, partition: int = 0) -> pd.DataFrame:
    """Return a corpus whose test split is one fold of all answerable questions.

    Questions are assigned to folds by type and, within a type, by original split, so that the
    folds are alike. Questions on one article stay together, and so do those that differ at most in
    case and punctuation. Of the questions outside the test fold, every eighth goes to the dev split
    and the others to the training split. Each fold starts to count at another one, so up to nine
    folds share no dev question if there are no articles.

    Args:
        corpus: table with schema CORPUS, and optionally the column `article`, the text that the
            candidates of a question are from; "" if it is not known.
        number: which fold to test, from 1.
        folds: the number of folds.
        partition: the random seed that shuffles the questions before they are assigned to folds.

    Returns:
        A table with schema CORPUS. Ids start with the original split: `dev:Q12`.

    Raises:
        AnalogyQAError: when a split would be empty.
    """
    answerable = corpus.groupby(["split", "question_id"], observed=True)["label"].transform("any")
    corpus = corpus[answerable].reset_index(drop=True)
    texts = normalise_texts(corpus["question"])
    articles = corpus.get("article", texts)
    questions = pd.DataFrame(
        {
            "text": texts,
            "article": articles.where(articles != "", texts),
            "type": corpus["question_type"].astype(object).fillna(""),
            "origin": corpus["split"].astype(str),
        }
    ).drop_duplicates(["text", "article"])
    order = np.random.default_rng(partition).permutation(len(questions))
    questions = questions.iloc[order].sort_values(["type", "origin"], kind="stable")
    questions["group"] = _join_groups(questions)
    is_tested = _divide(questions, folds) == number - 1
    new_split = np.where(is_tested, "test", "train").astype(object)
    others = questions[~is_tested]
    start = (number - 1) % max(1, min(DEV_EVERY, others["group"].nunique()))
    new_split[np.flatnonzero(~is_tested)[_divide(others, DEV_EVERY) == start]] = "dev"
    if missing := {"train", "dev", "test"} - set(new_split):
        raise AnalogyQAError(
            f"Fold {number} of {folds} of {len(questions)} questions has no question for "
            f"{', '.join(sorted(missing))}. Reduce cross_validation.folds."
        )
    split = texts.map(dict(zip(questions["text"], new_split, strict=True)))
    ids = {column: fold_ids(corpus, column) for column in ("question_id", "candidate_id")}
    split_order = split.map({"train": 0, "dev": 1, "test": 2})
    folded = corpus.assign(split=split, **ids).iloc[split_order.argsort(kind="stable")]
    return folded.reset_index(drop=True)[CORPUS.names]


def _join_groups(questions: pd.DataFrame) -> pd.Series:
    """Return a number for each question, equal for those that share their text or article."""
    groups, before = pd.Series(range(len(questions)), questions.index), None
    while not groups.equals(before):
        before = groups
        for column in ("article", "text"):
            groups = groups.groupby(questions[column]).transform("min")
    return groups


def _divide(questions: pd.DataFrame, parts: int) -> np.ndarray:
    """Divide questions into parts that are alike in type and original split.

    Each group of questions, the largest first, goes to the part with the fewest questions of the
    group's types and splits. Without larger groups, this is every nth question.

    Args:
        questions: the columns group, type and origin.
        parts: the number of parts.

    Returns:
        The part of each question, from 0: int [questions].
    """
    counts = pd.crosstab(questions["group"], [questions["type"], questions["origin"]])
    counts = counts.loc[questions["group"].unique()]
    counts = counts.iloc[np.argsort(-counts.sum(axis=1), kind="stable")]
    rarity = len(questions) // counts.sum().to_numpy()  # so that rare types count as much
    sizes = np.zeros((parts, counts.shape[1]), dtype=int)
    chosen = []
    for added in counts.to_numpy():
        similar = sizes @ (rarity * added)
        chosen.append(np.lexsort((sizes.sum(axis=1), similar))[0])
        sizes[chosen[-1]] += added
    return questions["group"].map(dict(zip(counts.index, chosen, strict=True))).to_numpy()


def restrict_to_fold(table: pd.DataFrame, folded: pd.DataFrame) -> pd.DataFrame:
    """Give the rows of a data set's table the splits and ids of a fold, and drop all others.

    The table is any with the columns split, question_id and candidate_id.
    """
    ids = {column: fold_ids(table, column) for column in ("question_id", "candidate_id")}
    splits = folded.drop_duplicates("question_id").set_index("question_id")["split"]
    table = table.assign(**ids, split=ids["question_id"].map(splits))
    return table[table["split"].notna()].reset_index(drop=True)


def fold_ids(table: pd.DataFrame, column: str) -> pd.Series:
    """Return the ids in a column as they appear in folds, with their split: `dev:Q12`."""
    return table["split"].astype(str) + ":" + table[column].astype(str)


def original_split(fold_id: str) -> str:
    """Return the split of the data set that a question of a fold comes from."""
    return fold_id.partition(":")[0]


def count_shared(corpus: pd.DataFrame) -> dict[str, int]:
    """Count the test questions and candidates whose text also occurs in train or dev.

    Texts are compared by `normalise_texts`. The totals are `of_questions` and `of_candidates`.
    """
    is_test = corpus["split"] == "test"
    counts = {}
    for column, id_column in (("question", "question_id"), ("candidate", "candidate_id")):
        tested = corpus[is_test].drop_duplicates(id_column)
        seen = set(normalise_texts(corpus.loc[~is_test, column]))
        counts[f"{column}s"] = int(normalise_texts(tested[column]).isin(seen).sum())
        counts[f"of_{column}s"] = len(tested)
    return counts


def normalise_texts(texts: pd.Series) -> pd.Series:
    """Return the letters and digits of texts, in lower case, to find copies of a question."""
    return texts.str.casefold().str.replace(r"[\W_]", "", regex=True)


def keep_train_share(corpus: pd.DataFrame, share: float) -> pd.DataFrame:
    """Return a corpus with a share of its training questions, stratified by type.

    Subsamples are nested: a larger share contains the questions of a smaller one. At least one
    question of each type remains. `share` is above 0 and up to 1.
    """
    train = corpus[corpus["split"] == "train"]
    questions = train.drop_duplicates("question_id").set_index("question_id")["question_type"]
    order = np.random.default_rng(_SEED).permutation(len(questions))
    types = questions.astype(object).fillna("").iloc[order]
    is_kept = types.groupby(types).cumcount() < types.map(types.value_counts()) * share
    has_kept_id = corpus["question_id"].isin(types.index[is_kept])
    return corpus[has_kept_id | (corpus["split"] != "train")].reset_index(drop=True)
