"""The data of a cell: sentences, pairs and quadruples as row numbers."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd

from analogyqa.errors import AnalogyQAError
from analogyqa.text import Sentences

_TEXTS = ("question", "candidate")


class SplitData(NamedTuple):
    """A split of a cell: its pairs and its quadruples as row numbers.

    `questions`, `candidates` are sentence numbers [M] and `labels` [M] of `pairs`. `prototypes` and
    `rows` are the quadruples [n]: rows of the prototypes and of the pairs.
    """

    pairs: pd.DataFrame
    questions: np.ndarray
    candidates: np.ndarray
    labels: np.ndarray
    prototypes: np.ndarray
    rows: np.ndarray

    @property
    def groups(self) -> dict[str, str]:
        """Return question_id to question type, as measures are grouped."""
        return dict(zip(self.pairs["question_id"], self.pairs["question_type"], strict=True))


class CellData(NamedTuple):
    """What one seed of a cell is trained and scored on.

    `everything` has the pairs of all splits, answerable or not, where something is fitted to them.
    """

    sentences: Sentences
    word_vectors: np.ndarray | None
    prototype_ranks: np.ndarray
    prototype_questions: np.ndarray
    prototype_candidates: np.ndarray
    splits: dict[str, SplitData]
    everything: SplitData | None = None


def cell_data(
    pairs: dict[str, pd.DataFrame],
    prototypes: pd.DataFrame,
    quadruples: dict[str, pd.DataFrame],
    word_vectors: np.ndarray | None,
    word_ids: dict[str, int] | None,
    split: Callable[[str], list[str]],
    everything: pd.DataFrame | None = None,
) -> CellData:
    """Number the sentences of a cell and turn its quadruples into row numbers.

    Args:
        pairs: split to the pairs of the subset (`question_types.select_subset`).
        prototypes: the p prototypes of each type; empty for a system that needs none.
        quadruples: split to its table; a split that has none gets no quadruples.
        word_vectors: float32 [V, d], or None.
        word_ids: word to row of `word_vectors`, or None.
        split: a sentence to its words, as the vocabulary was made.
        everything: the pairs that something is fitted to, or None.
    """
    frames = [*pairs.values(), *([] if everything is None else [everything])]
    texts = pd.concat([frame[column] for frame in frames for column in _TEXTS])
    sentences = Sentences(texts, word_ids, split)
    train = pairs["train"].set_index("candidate_id")
    chosen = train.reindex(prototypes["candidate_id"])
    if chosen["question"].isna().any():
        raise AnalogyQAError("the prototypes are of another corpus")
    kinds = prototypes["question_type"].astype(str)
    by_rank = {key: row for row, key in enumerate(zip(kinds, prototypes["rank"], strict=True))}
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
    numbers = [sentences.numbers(pairs[column]) for column in _TEXTS]
    prototypes = rows = np.zeros(0, dtype=np.int64)
    if quadruples is not None:
        row_of = pd.Series(np.arange(len(pairs)), index=pairs["candidate_id"])
        categories = quadruples["candidate_id"].cat
        known = row_of.reindex(categories.categories)
        if known.isna().any() or quadruples["prototype"].max() > max(r for _, r in by_rank):
            raise AnalogyQAError("the quadruples are of another corpus or of more prototypes")
        rows = known.to_numpy(dtype=np.int64)[categories.codes]
        kinds = pairs["question_type"].astype(str).to_numpy()
        largest = 1 + max(rank for _, rank in by_rank)
        table = np.full((len(pairs), largest), -1, dtype=np.int64)
        for (kind, rank), row in by_rank.items():
            table[kinds == kind, rank] = row
        prototypes = table[rows, quadruples["prototype"].to_numpy()]
    return SplitData(pairs, *numbers, pairs["label"].to_numpy(), prototypes, rows)


def ranked_sentences(corpus: pd.DataFrame, typed_only: bool) -> list[str]:
    """Return the sentences that ranking reads, once each: the questions of dev and test with their
    candidates, and the correct training pairs, which may be prototypes.

    With `typed_only` the questions without a type are left out.
    """
    ranked = corpus[(corpus["split"] != "train") | (corpus["label"] == 1)]
    if typed_only:
        ranked = ranked[ranked["question_type"].notna()]
    return list(dict.fromkeys(pd.concat([ranked[column] for column in _TEXTS])))


def training_sentences(corpus: pd.DataFrame) -> list[str]:
    """Return the questions and candidates of the training split, once each."""
    train = corpus[corpus["split"] == "train"]
    return list(dict.fromkeys(pd.concat([train[column] for column in _TEXTS])))
