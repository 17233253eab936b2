"""Rank candidates by how well the words of the question align with their words.

Yadav, Sharp and Surdeanu (2018), "Sanity check: a strong alignment and information retrieval
baseline for question answering", SIGIR.
"""

import numpy as np

from analogyqa.rankers import Vocabulary, Words, unranked
from analogyqa.vectors import unit


class AlignedRanker:
    """score(q, a) = sum over words w of q of idf(w) * max over words v of a of cos(w, v).

    From the paper's one-to-many alignments, it takes only the best one for each word.
    """

    def __init__(self, *unused: object) -> None:
        pass

    def fit(self, vocabulary: Vocabulary) -> None:
        """Store the word vectors, and compute the inverse document frequency of each word.

        It is that of the paper, log((N - n + 0.5) / (n + 0.5)) for a word in n of N sentences, but
        0 where that is negative.
        """
        frequencies, sentences = vocabulary.frequencies, vocabulary.sentences
        self.vectors = unit(vocabulary.vectors)
        self.idf = np.log((sentences - frequencies + 0.5) / (frequencies + 0.5)).clip(min=0)

    def scores(self, pairs: Words) -> tuple[np.ndarray, np.ndarray]:
        """Score pairs: float32 [M]; there is no best prototype."""
        question_of, questions, candidates = pairs
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
        return unranked(scores)


def _groups(numbers: np.ndarray) -> list[np.ndarray]:
    """Return the rows of each number."""
    order = np.argsort(numbers, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(numbers[order])) + 1)
