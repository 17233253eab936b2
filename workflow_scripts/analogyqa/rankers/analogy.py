"""Rank candidates by analogy with prototypes, or by similarity to the question."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from analogyqa.rankers import Encoded, Quadruples, unranked
from analogyqa.rankers.specs import AnalogyOptions
from analogyqa.vectors import unit

if TYPE_CHECKING:
    from torch import Tensor


class CosineRanker:
    """score(q, a) = cos(q, a). It learns from c and d of the same quadruples as analogy."""

    def __init__(self, *unused: object) -> None:
        pass

    def scores(self, encoded: Encoded) -> tuple[np.ndarray, np.ndarray]:
        questions, candidates = unit(encoded.questions), unit(encoded.candidates)
        return unranked(np.einsum("md,md->m", questions, candidates))

    def energies(self, quadruples: Quadruples, both_sides: bool = False) -> list["Tensor"]:
        from analogyqa.rankers.energy import energy

        vectors = quadruples.vectors
        return [energy(vectors[quadruples.c], vectors[quadruples.d])]

    def distances(self, quadruples: Quadruples) -> list["Tensor"]:
        from analogyqa.rankers.energy import length

        return [length(quadruples.vectors[quadruples.c] - quadruples.vectors[quadruples.d])]


class AnalogyRanker:
    """score(q, a) = max over prototypes of cos(q_p - a_p, q - a) (Diallo et al. 2019, section 4.2).

    With `compare: distance` the cosine is replaced by -||(q_p - a_p) - (q - a)||, so that the
    smallest analogical dissimilarity wins (eq. 3). The maximum may be replaced by `aggregate: mean`
    or, with `question`, by the value of the one prototype with the highest energy for any candidate
    of the question.
    """

    def __init__(self, options: AnalogyOptions, *unused: object) -> None:
        self.options = options

    def scores(self, encoded: Encoded) -> tuple[np.ndarray, np.ndarray]:
        """Score pairs: float32 [M], and the row of each best prototype, int [M]."""
        prototype_shifts = encoded.prototype_questions - encoded.prototype_candidates
        pair_shifts = encoded.questions - encoded.candidates
        prototypes, pairs = encoded.prototypes, encoded.pairs
        if self.options.compare == "distance":
            from scipy.spatial.distance import cdist  # half a second, that few jobs need

            every = -cdist(prototype_shifts, pair_shifts).astype(np.float32)
        else:
            every = unit(prototype_shifts) @ unit(pair_shifts).T
        energies = every[prototypes, pairs]
        starts = np.flatnonzero(np.r_[True, pairs[1:] != pairs[:-1]])
        counts = np.diff(np.r_[starts, len(pairs)])
        best = np.maximum.reduceat(energies, starts)
        is_best = energies == np.repeat(best, counts)
        firsts = np.minimum.reduceat(np.where(is_best, np.arange(len(pairs)), len(pairs)), starts)
        order, chosen = pairs[starts], prototypes[firsts]
        if self.options.aggregate == "mean":
            best = np.add.reduceat(energies, starts) / counts
        elif self.options.aggregate == "question":
            by_question = pd.Series(best).groupby(encoded.question_numbers[order])
            chosen = chosen[by_question.transform("idxmax")]
            best = every[chosen, order]
        scores = np.full(len(pair_shifts), np.nan, dtype=np.float32)
        best_prototypes = np.full(len(pair_shifts), -1, dtype=np.int64)
        scores[order], best_prototypes[order] = best, chosen
        return scores, best_prototypes

    def energies(self, quadruples: Quadruples, both_sides: bool = False) -> list["Tensor"]:
        """Return cos(a - b, c - d) (eq. 6); with `both_sides`, also cos(a - c, b - d)."""
        from analogyqa.rankers.energy import energy, quadruple_energies

        vectors, a, b, c, d = quadruples
        energies = [quadruple_energies(*quadruples)]
        if both_sides:
            energies.append(energy(vectors[a] - vectors[c], vectors[b] - vectors[d]))
        return energies

    def distances(self, quadruples: Quadruples) -> list["Tensor"]:
        """Return ||(a - b) - (c - d)|| (LWDA 2019, eq. 1) of both sides, which is the same."""
        from analogyqa.rankers.energy import length

        vectors, a, b, c, d = quadruples
        return [length(vectors[a] - vectors[b] - vectors[c] + vectors[d])] * 2
