"""Rank candidates by how well the words of the question align with their words.

Yadav, Sharp and Surdeanu (2018), "Sanity check: a strong alignment and information retrieval
baseline for question answering", SIGIR.
"""

from collections.abc import Sequence

import numpy as np

from analogyqa.vectors.unit import unit


class AlignedRanker:
    """score(q, a) = sum over words w of q of idf(w) * max over words v of a of cos(w, v).

    From the paper's one-to-many alignments, it takes only the best one for each word.
    """

    def __init__(self, *unused: object) -> None:
        pass

    def fit(self, word_vectors: np.ndarray, frequencies: np.ndarray, sentences: int) -> None:
        """Store the word vectors, and compute the inverse document frequency of each word.

        It is that of the paper, log((N - n + 0.5) / (n + 0.5)), but 0 where that is negative.

        Args:
            word_vectors: The vectors of all words [V, d].
            frequencies: The number n of sentences that contain each word, int [V].
            sentences: The number N of sentences.
        """
        self.vectors = unit(word_vectors)
        self.idf = np.log((sentences - frequencies + 0.5) / (frequencies + 0.5)).clip(min=0)

    def scores(
        self,
        question_of: np.ndarray,
        questions: Sequence[np.ndarray],
        candidates: Sequence[np.ndarray],
    ) -> np.ndarray:
        """Score m pairs: float32 [m].

        Args:
            question_of: The number of the question of each pair [m].
            questions, candidates: The word ids of both sentences of each pair.
        """
        scores = np.zeros(len(candidates), dtype=np.float32)
        for rows in _groups(question_of):
            words = questions[rows[0]]
            lengths = np.array([len(candidates[row]) for row in rows])
            if len(words) == 0 or lengths.sum() == 0:
                continue
            candidate_words = np.concatenate([candidates[row] for row in rows])
            cosines = self.vectors[words] @ self.vectors[candidate_words].T
            filled = np.flatnonzero(lengths)
            starts = np.cumsum(lengths)[filled] - lengths[filled]
            best = np.maximum.reduceat(cosines, starts, axis=1)
            scores[rows[filled]] = self.idf[words] @ best
        return scores


def _groups(numbers: np.ndarray) -> list[np.ndarray]:
    """Return the rows of each number."""
    order = np.argsort(numbers, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(numbers[order])) + 1)
