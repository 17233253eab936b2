"""Smooth inverse frequency: how much a word weighs (Arora, Liang and Ma 2017)."""

import numpy as np

A = 1e-3


def sif_weight(count: int | np.ndarray, tokens: int) -> float | np.ndarray:
    """Return A / (A + p), where p is the share of a word that comes `count` times among tokens."""
    return A / (A + count / max(tokens, 1))
