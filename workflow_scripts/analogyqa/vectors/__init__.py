"""Word vectors."""

import numpy as np


def unit(vectors: np.ndarray) -> np.ndarray:
    """Return vectors [n, d] scaled to unit length; zero vectors stay zero."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
