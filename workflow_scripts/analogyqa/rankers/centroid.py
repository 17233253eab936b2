"""Rank candidates by the mean shift of the prototypes of the question's type."""

from typing import TYPE_CHECKING

import numpy as np

from analogyqa.rankers import Encoded, Quadruples
from analogyqa.vectors import unit

if TYPE_CHECKING:
    from torch import Tensor


class CentroidRanker:
    """score(q, a) = cos(m, q - a), where m is the mean of q_p - a_p over the prototypes.

    As the prototypes are those of the question's type, each type has one centroid m, which is
    learned with the encoder. Prototypical networks compare with such means, too (Snell et al. 2017,
    eq. 1). No candidate is compared with any single known question.
    """

    def __init__(self, *unused: object) -> None:
        pass

    def scores(self, encoded: Encoded) -> tuple[np.ndarray, np.ndarray]:
        """Score pairs: float32 [M], and the row of the prototype nearest to m, int [M]."""
        shifts = encoded.prototype_questions - encoded.prototype_candidates
        pair_shifts = encoded.questions - encoded.candidates
        is_compared = np.zeros((len(pair_shifts), len(shifts)), dtype=np.float32)
        is_compared[encoded.pairs, encoded.prototypes] = 1
        centroids = unit(is_compared / is_compared.sum(axis=1, keepdims=True) @ shifts)
        scores = np.einsum("md,md->m", centroids, unit(pair_shifts))
        nearness = np.where(is_compared, centroids @ unit(shifts).T, -np.inf)
        return scores.astype(np.float32), nearness.argmax(axis=1)

    def energies(self, quadruples: Quadruples, both_sides: bool = False) -> list["Tensor"]:
        """Return cos(m, c - d): [n]; m is the mean of a - b over the quadruples of c and d.

        In batches of questions, a correct pair has all prototypes of its type but itself.
        """
        from analogyqa.rankers.energy import energy

        vectors, a, b, c, d = quadruples
        shifts, columns = _distinct_shifts(vectors, a, b)
        pair_shifts, rows = _distinct_shifts(vectors, c, d)
        cells, size = rows * len(shifts) + columns, (len(pair_shifts), len(shifts))
        counts = cells.bincount(minlength=size[0] * size[1]).view(size).to(vectors.dtype)
        centroids = counts / counts.sum(dim=1, keepdim=True) @ shifts
        return [energy(centroids, pair_shifts)[rows]]


def _distinct_shifts(
    vectors: "Tensor", first: "Tensor", second: "Tensor"
) -> tuple["Tensor", "Tensor"]:
    """Return the distinct shifts of n pairs of rows, and the row [n] of each pair in them."""
    pairs, rows = (first * len(vectors) + second).unique(return_inverse=True)
    return vectors[pairs // len(vectors)] - vectors[pairs % len(vectors)], rows
