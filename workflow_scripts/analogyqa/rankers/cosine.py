"""Rank candidates by the cosine of question and candidate."""

import numpy as np


def unit(vectors: np.ndarray) -> np.ndarray:
    """Return the vectors [n, d] at length 1; a zero vector stays zero."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)


def cosine_scores(questions: np.ndarray, candidates: np.ndarray) -> np.ndarray:
    """Score pairs by cos(q, a): two arrays [m, d] to float32 [m]."""
    return np.einsum("md,md->m", unit(questions), unit(candidates)).astype(np.float32)
