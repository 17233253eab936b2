"""Smooth inverse frequency, a weight for words (Arora, Liang and Ma 2017)."""

import numpy as np

A = 1e-3


def sif_weight(count: int | np.ndarray, tokens: int) -> float | np.ndarray:
    """Return A / (A + p), where p = count / tokens is the relative frequency of a word."""
    return A / (A + count / max(tokens, 1))
