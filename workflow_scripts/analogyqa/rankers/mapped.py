"""Rank candidates by cosine after a mapping between questions and candidates (Hazem et al. 2017).

The mapping is the one that Artetxe et al. (2016) learn between the words of two languages: the
orthogonal matrix that brings the normalised sources of known pairs nearest to their targets. The
first principal components of the sentences are removed, as in Arora et al. (2017).
"""

import numpy as np

from analogyqa.rankers import Encoded, Fitting, unranked
from analogyqa.rankers.specs import MappedOptions
from analogyqa.vectors.unit import unit


def orthogonal_map(sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Return the orthogonal W [d, d] that minimises the sum of |x W - z|^2 over pairs [n, d].

    It is U V' for the singular value decomposition X'Z = U S V' (Artetxe et al. 2016, 2.1).
    """
    left, _, right = np.linalg.svd(sources.T @ targets)
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
        self.options, self.components = options.mapping, options.components
        self.centred_components = options.centred_components

    def fit(self, fitting: Fitting) -> None:
        """Learn the mean, the matrix and the components, in this order and in double precision."""
        sentences = fitting.sentences.astype(np.float64)
        self.means = [np.zeros(sentences.shape[1])] * 2
        if "centre" in self.options.normalise:
            before = self.options.normalise[: self.options.normalise.index("centre")]
            steps = unit(sentences) if "unit" in before else sentences
            rows = [fitting.sentences_of(self.options.mean_of)] * 2
            if self.options.means == "by_side":
                rows = fitting.sides_of(self.options.mean_of)
            self.means = [steps[of_side].mean(axis=0) for of_side in rows]
        self.source: np.ndarray | None = None
        self.target: np.ndarray | None = None
        if self.options.learned_from:
            thread = self.options.pairs == "thread"
            find = fitting.thread_pairs if thread else fitting.correct_pairs
            questions, candidates = (sentences[rows] for rows in find(self.options.learned_from))
            self._learn(self._normalised(questions, 0), self._normalised(candidates, 1))
        self.removed: np.ndarray | None = None
        if self.components:
            self.removed = self._components(sentences, fitting)

    def _components(self, sentences: np.ndarray, fitting: Fitting) -> np.ndarray:
        rows = [fitting.sentences_of(["train"])]
        if self.options.means == "by_side":
            rows = fitting.sides_of(["train"])
        training = np.concatenate(
            [self._normalised(sentences[of_side], side) for side, of_side in enumerate(rows)]
        )
        if self.source is not None and self.target is not None:
            training = training @ self.source
        if self.centred_components:
            training = training - training.mean(axis=0)
        return first_components(training, self.components)

    def _learn(self, questions: np.ndarray, candidates: np.ndarray) -> None:
        sources, targets = questions, candidates
        if self.options.direction == "to_question":
            sources, targets = candidates, questions
        elif self.options.direction == "both":
            sources, targets = np.r_[questions, candidates], np.r_[candidates, questions]
        learn = orthogonal_map if self.options.orthogonal else least_squares_map
        self.source = learn(sources, targets)
        self.target = self.source if self.options.side == "both" else None

    def _normalised(self, vectors: np.ndarray, side: int) -> np.ndarray:
        """Normalise vectors of questions (side 0) or of candidates (side 1)."""
        for step in self.options.normalise:
            vectors = unit(vectors) if step == "unit" else vectors - self.means[side]
        return vectors

    def _projected(self, vectors: np.ndarray, matrix: np.ndarray | None, side: int) -> np.ndarray:
        vectors = self._normalised(vectors.astype(np.float64), side)
        vectors = vectors if matrix is None else vectors @ matrix
        if self.removed is not None:
            vectors = vectors - vectors @ self.removed.T @ self.removed
        return unit(vectors)

    def scores(self, encoded: Encoded) -> tuple[np.ndarray, np.ndarray]:
        """Score pairs: float32 [M]; there is no best prototype."""
        matrices = self.source, self.target
        if self.options.direction == "to_question":
            matrices = self.target, self.source
        questions = self._projected(encoded.questions, matrices[0], side=0)
        candidates = self._projected(encoded.candidates, matrices[1], side=1)
        cosines = np.einsum("md,md->m", questions, candidates)
        if self.options.negatives == "lowest":
            cosines = np.maximum(cosines, 0)
        return unranked(cosines)
