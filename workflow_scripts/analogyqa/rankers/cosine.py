"""Rank candidates by the cosine of question and candidate."""

from typing import TYPE_CHECKING

import numpy as np

from analogyqa.rankers import Encoded, Quadruples, unranked
from analogyqa.vectors import unit

if TYPE_CHECKING:
    from torch import Tensor


class CosineRanker:
    """score(q, a) = cos(q, a). It learns from c and d of the same quadruples as analogy."""

    def __init__(self, *unused: object) -> None:
        pass

    def scores(self, encoded: Encoded) -> tuple[np.ndarray, np.ndarray]:
        """Score pairs: float32 [M]; there is no best prototype."""
        questions, candidates = unit(encoded.questions), unit(encoded.candidates)
        return unranked(np.einsum("md,md->m", questions, candidates))

    def energies(self, quadruples: Quadruples, both_sides: bool = False) -> list["Tensor"]:
        """Return the cosines of c and d as one side: [n]."""
        from analogyqa.rankers.energy import energy

        vectors = quadruples.vectors
        return [energy(vectors[quadruples.c], vectors[quadruples.d])]

    def distances(self, quadruples: Quadruples) -> list["Tensor"]:
        """Return the distances of c and d as one side: [n]."""
        from analogyqa.rankers.energy import length

        return [length(quadruples.vectors[quadruples.c] - quadruples.vectors[quadruples.d])]
