"""Rank candidates by analogy with prototypes."""

from typing import Literal

import numpy as np

from analogyqa.rankers.cosine import unit


def analogy_scores(
    prototype_shifts: np.ndarray,
    pair_shifts: np.ndarray,
    prototypes: np.ndarray,
    pairs: np.ndarray,
    aggregate: Literal["max", "mean"],
) -> tuple[np.ndarray, np.ndarray]:
    """Score pairs by their analogy with prototypes, max (or mean) of cos(q_p - a_p, q - a).

    Args:
        prototype_shifts: q_p - a_p, [P, d].
        pair_shifts: q - a, [M, d].
        prototypes, pairs: the quadruples, int [n] each, rows of the two arrays above; the
            quadruples of a pair stand together.
        aggregate: over the prototypes of a pair.

    Returns:
        float32 [M], and int [M] the row of the prototype with the highest energy.
    """
    energies = (unit(prototype_shifts) @ unit(pair_shifts).T)[prototypes, pairs]
    starts = np.flatnonzero(np.r_[True, pairs[1:] != pairs[:-1]])
    counts = np.diff(np.r_[starts, len(pairs)])
    best = np.maximum.reduceat(energies, starts)
    is_best = energies == np.repeat(best, counts)
    firsts = np.minimum.reduceat(np.where(is_best, np.arange(len(pairs)), len(pairs)), starts)
    if aggregate == "mean":
        best = np.add.reduceat(energies, starts) / counts
    order = pairs[starts]
    scores = np.full(len(pair_shifts), np.nan, dtype=np.float32)
    best_prototypes = np.full(len(pair_shifts), -1, dtype=np.int64)
    scores[order], best_prototypes[order] = best, prototypes[firsts]
    return scores, best_prototypes
