"""The data of a cell: sentences, pairs and quadruples as row numbers."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd

from analogyqa.errors import AnalogyQAError
from analogyqa.text import Sentences
from analogyqa.vectors.frequencies import Frequencies

_TEXTS = ("question", "candidate")


class SplitData(NamedTuple):
    """The pairs and quadruples of a split of a cell.

    Attributes:
        pairs: The table of M pairs.
        questions, candidates: The sentence numbers of the pairs, [M].
        labels: The labels of the pairs, [M].
        prototypes, rows: The row numbers of the prototype and the pair of each quadruple, [n].
    """

    pairs: pd.DataFrame
    questions: np.ndarray
    candidates: np.ndarray
    labels: np.ndarray
    prototypes: np.ndarray
    rows: np.ndarray

    @property
    def question_numbers(self) -> np.ndarray:
        """The number of the question of each pair, from 0: int [M]."""
        return pd.factorize(self.pairs["question_id"])[0]

    @property
    def groups(self) -> dict[str, str]:
        """The question type of each question_id, by which measures are grouped."""
        return dict(zip(self.pairs["question_id"], self.pairs["question_type"], strict=True))


class CellData(NamedTuple):
    """The data that one seed of a cell is trained and scored on.

    `everything` has the pairs of all splits, answerable or not, for fitted systems. `frequencies`
    are those of words in a larger text.
    """

    sentences: Sentences
    word_vectors: np.ndarray | None
    prototype_ranks: np.ndarray
    prototype_questions: np.ndarray
    prototype_candidates: np.ndarray
    splits: dict[str, SplitData]
    everything: SplitData | None = None
    frequencies: Frequencies | None = None

    @property
    def known_vectors(self) -> np.ndarray:
        """The word vectors, of a system that reads them."""
        if self.word_vectors is None:
            raise ValueError("no word vectors were loaded")
        return self.word_vectors

    @property
    def all_pairs(self) -> SplitData:
        """The pairs of all splits, of a system that is fitted."""
        if self.everything is None:
            raise ValueError("the pairs of all splits were not loaded")
        return self.everything


def split_evenly(rows: np.ndarray, size: int) -> list[np.ndarray]:
    """Split rows [n] into parts of at most `size` rows, whose sizes differ by at most one."""
    return np.array_split(rows, math.ceil(len(rows) / size)) if len(rows) else []


def cell_data(
    pairs: dict[str, pd.DataFrame],
    prototypes: pd.DataFrame,
    quadruples: dict[str, pd.DataFrame],
    word_vectors: np.ndarray | None,
    word_ids: dict[str, int] | None,
    split: Callable[[str], list[str]],
    everything: pd.DataFrame | None = None,
) -> CellData:
    """Number the sentences of a cell, and turn its quadruples into row numbers.

    Args:
        pairs: The pairs of the subset, by split.
        prototypes: The first p prototypes of each type; empty for a system that needs none.
        quadruples: The table of quadruples, by split; splits may be missing.
        word_vectors: The word vectors, float32 [V, d], or None.
        word_ids: The row of each word in `word_vectors`, or None.
        split: The function that splits a sentence into words, as for the vocabulary.
        everything: The pairs for systems that are fitted, or None.
    """
    frames = [*pairs.values(), *([] if everything is None else [everything])]
    texts = pd.concat([frame[column] for frame in frames for column in _TEXTS])
    sentences = Sentences(texts, word_ids, split)
    train = pairs["train"].set_index("candidate_id")
    chosen = train.reindex(prototypes["candidate_id"])
    if chosen["question"].isna().any():
        raise AnalogyQAError("the prototypes belong to another corpus")
    types = prototypes["question_type"].astype(str)
    by_rank = {key: row for row, key in enumerate(zip(types, prototypes["rank"], strict=True))}
    return CellData(
        sentences,
        word_vectors,
        prototypes["rank"].to_numpy(),
        sentences.numbers(chosen["question"]),
        sentences.numbers(chosen["candidate"]),
        {
            name: _split_data(frame, quadruples.get(name), sentences, by_rank)
            for name, frame in pairs.items()
        },
        None if everything is None else _split_data(everything, None, sentences, by_rank),
    )


def _split_data(
    pairs: pd.DataFrame,
    quadruples: pd.DataFrame | None,
    sentences: Sentences,
    by_rank: dict[tuple[str, int], int],
) -> SplitData:
    questions, candidates = (sentences.numbers(pairs[column]) for column in _TEXTS)
    prototypes = rows = np.zeros(0, dtype=np.int64)
    if quadruples is not None:
        pair_rows = pd.Series(np.arange(len(pairs)), index=pairs["candidate_id"])
        categories = quadruples["candidate_id"].cat
        category_rows = pair_rows.reindex(categories.categories)
        ranks = 1 + max(rank for _, rank in by_rank)
        if category_rows.isna().any() or quadruples["prototype"].max() >= ranks:
            raise AnalogyQAError("the quadruples belong to another corpus or to more prototypes")
        rows = category_rows.to_numpy(dtype=np.int64)[categories.codes]
        types = pairs["question_type"].astype(str).to_numpy()
        table = np.full((len(pairs), ranks), -1, dtype=np.int64)
        for (question_type, rank), row in by_rank.items():
            table[types == question_type, rank] = row
        prototypes = table[rows, quadruples["prototype"].to_numpy()]
    labels = pairs["label"].to_numpy()
    return SplitData(pairs, questions, candidates, labels, prototypes, rows)


def ranked_sentences(corpus: pd.DataFrame, typed_only: bool) -> list[str]:
    """Return the unique sentences that ranking needs.

    These are the questions and candidates of dev and test, and the correct training pairs, which
    may be prototypes. With `typed_only`, questions without a type are left out.
    """
    ranked = corpus[(corpus["split"] != "train") | (corpus["label"] == 1)]
    if typed_only:
        ranked = ranked[ranked["question_type"].notna()]
    return list(dict.fromkeys(pd.concat([ranked[column] for column in _TEXTS])))


def training_sentences(corpus: pd.DataFrame) -> list[str]:
    """Return the unique questions and candidates of the training split."""
    train = corpus[corpus["split"] == "train"]
    return list(dict.fromkeys(pd.concat([train[column] for column in _TEXTS])))
