"""Rank candidates by cosine after a mapping between questions and candidates (Hazem et al. 2017).

The mapping is the one that Artetxe et al. (2016) learn between the words of two languages: the
orthogonal matrix that brings the normalised sources of known pairs nearest to their targets. The
first principal components of the sentences are removed, as in Arora et al. (2017).
"""

import numpy as np

from analogyqa.rankers import Encoded, Fitting, unranked
from analogyqa.rankers.specs import MappedOptions
from analogyqa.vectors import unit


def orthogonal_map(sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Return the orthogonal W [d, d] that minimises the sum of |x W - z|^2 over pairs [n, d].

    It is U V' for the singular value decomposition X'Z = U S V' (Artetxe et al. 2016, 2.1). Where
    the pairs do not determine W, it is as near to the identity as it can be. Without the small
    multiple of the identity, rounding would choose it.
    """
    product = sources.T @ targets
    product += 1e-9 * np.linalg.norm(product, 2) * np.eye(len(product))
    left, _, right = np.linalg.svd(product)
    return left @ right


def least_squares_map(sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Return the smallest W [d, d] that minimises the sum of |x W - z|^2 over pairs [n, d]."""
    return np.linalg.lstsq(sources, targets, rcond=None)[0]


def first_components(vectors: np.ndarray, count: int) -> np.ndarray:
    """Return the first right singular vectors of [n, d], by its Gram matrix: [count, d]."""
    return np.linalg.eigh(vectors.T @ vectors)[1].T[::-1][:count]


class MappedRanker:
    """score(q, a) = cos(f(q), g(a)), where `fit` learns f and g as the option `mapping` defines."""

    def __init__(self, options: MappedOptions, *unused: object) -> None:
        self.options = options
        self.mapping = options.mapping

    def fit(self, fitting: Fitting) -> None:
        """Learn the means, the matrices and the components, in this order and double precision."""
        sentences, mapping = fitting.sentences.astype(np.float64), self.mapping
        # The mean and the matrix of questions, and those of candidates.
        self.means = [np.zeros(sentences.shape[1])] * 2
        self.matrices: list[np.ndarray | None] = [None, None]
        self.removed: np.ndarray | None = None
        by_side = mapping.means == "by_side"
        if "centre" in mapping.normalise:
            before = mapping.normalise[: mapping.normalise.index("centre")]
            steps = unit(sentences) if "unit" in before else sentences
            means = [
                steps[rows].mean(axis=0) for rows in fitting.sentence_rows(mapping.mean_of, by_side)
            ]
            self.means = [means[0], means[-1]]
        if mapping.learned_from:
            find = fitting.thread_pairs if mapping.pairs == "thread" else fitting.correct_pairs
            first, second = find(mapping.learned_from)
            sources = self._normalised(sentences[first], 0)
            # In a thread, most pairs are two candidates.
            is_candidate = ~np.isin(first, fitting.questions)
            sources[is_candidate] = self._normalised(sentences[first[is_candidate]], 1)
            self._learn(sources, self._normalised(sentences[second], 1))
        if self.options.components:
            sides = enumerate(fitting.sentence_rows(["train"], by_side))
            training = np.concatenate(
                [self._normalised(sentences[rows], side) for side, rows in sides]
            )
            if mapping.side == "both" and self.matrices[0] is not None:
                training = training @ self.matrices[0]
            if self.options.centred_components:
                training = training - training.mean(axis=0)
            self.removed = first_components(training, self.options.components)

    def _learn(self, questions: np.ndarray, candidates: np.ndarray) -> None:
        sources, targets = questions, candidates
        if self.mapping.direction == "to_question":
            sources, targets = candidates, questions
        elif self.mapping.direction == "both":
            sources, targets = np.r_[questions, candidates], np.r_[candidates, questions]
        learn = orthogonal_map if self.mapping.orthogonal else least_squares_map
        matrix = learn(sources, targets)
        self.matrices = [matrix, matrix]
        if self.mapping.side == "source":
            self.matrices[self.mapping.direction != "to_question"] = None

    def _normalised(self, vectors: np.ndarray, side: int) -> np.ndarray:
        """Normalise vectors of questions (side 0) or of candidates (side 1)."""
        for step in self.mapping.normalise:
            vectors = unit(vectors) if step == "unit" else vectors - self.means[side]
        return vectors

    def _projected(self, vectors: np.ndarray, side: int) -> np.ndarray:
        vectors, matrix = self._normalised(vectors.astype(np.float64), side), self.matrices[side]
        vectors = vectors if matrix is None else vectors @ matrix
        if self.removed is not None:
            vectors = vectors - vectors @ self.removed.T @ self.removed
        return unit(vectors)

    def scores(self, encoded: Encoded) -> tuple[np.ndarray, np.ndarray]:
        questions = self._projected(encoded.questions, side=0)
        candidates = self._projected(encoded.candidates, side=1)
        cosines = np.einsum("md,md->m", questions, candidates)
        if self.mapping.negatives == "lowest":
            cosines = np.maximum(cosines, 0)
        return unranked(cosines)
