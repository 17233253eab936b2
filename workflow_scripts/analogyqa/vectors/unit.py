"""Vectors of length 1."""

import numpy as np


def unit(vectors: np.ndarray) -> np.ndarray:
    """Return the vectors [n, d] at length 1; a zero vector stays zero."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
