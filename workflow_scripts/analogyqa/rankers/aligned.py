"""Rank candidates by how well the words of the question align with theirs.

Yadav, Sharp and Surdeanu (2018), "Sanity check: a strong alignment and information retrieval
baseline for question answering", SIGIR.
"""

from collections.abc import Sequence

import numpy as np

from analogyqa.vectors.unit import unit


class AlignedRanker:
    """score(q, a) = the sum over words w of q of idf(w) max cos(w, v) over words v of a.

    Of the paper's one-to-many alignments it takes the best alone, and none of the least similar.
    """

    def __init__(self, *unused: object) -> None:
        pass

    def fit(self, word_vectors: np.ndarray, holding: np.ndarray, sentences: int) -> None:
        """Take the vectors [V, d], and how many of some sentences hold each word, int [V].

        The inverse document frequency is that of the paper, log((N - n + 0.5) / (n + 0.5)), and 0
        where it would be negative.
        """
        self.vectors = unit(word_vectors)
        self.idf = np.log((sentences - holding + 0.5) / (holding + 0.5)).clip(min=0)

    def scores(
        self,
        question_of: np.ndarray,
        questions: Sequence[np.ndarray],
        candidates: Sequence[np.ndarray],
    ) -> np.ndarray:
        """Score m pairs by the ids of their words: float32 [m].

        `question_of` [m] numbers the question of each pair.
        """
        scores = np.zeros(len(candidates), dtype=np.float32)
        for rows in _groups(question_of):
            words, own = questions[rows[0]], [candidates[row] for row in rows]
            lengths = np.array([len(each) for each in own])
            if len(words) == 0 or lengths.sum() == 0:
                continue
            cosines = self.vectors[words] @ self.vectors[np.concatenate(own)].T
            filled = np.flatnonzero(lengths)
            starts = np.cumsum(lengths)[filled] - lengths[filled]
            best = np.maximum.reduceat(cosines, starts, axis=1)
            scores[rows[filled]] = self.idf[words] @ best
        return scores


def _groups(numbers: np.ndarray) -> list[np.ndarray]:
    order = np.argsort(numbers, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(numbers[order])) + 1)
