"""Solvers of A : B :: C : ?, which score candidates D by their cosines with A, B and C.

A solver splits its formula into an `offset`, which depends on A, B and D, and `scores`, which adds
the part with C. So it can be vectorised over both candidates and C, with the same bits as a loop
over single candidates.
"""

import numpy as np

# Lower bound of a squared distance, because equal vectors must not divide by zero.
NEAREST = 1e-6


class Solver:
    """A formula over arrays, which broadcast. Scores have the precision of the cosines."""

    def to_pair(self, cosines: np.ndarray) -> np.ndarray:
        """Transform the cosines of candidates and A or B for `offset`."""
        return cosines

    def to_c(self, cosines: np.ndarray) -> np.ndarray:
        """Transform the cosines of candidates and C for `scores`."""
        return self.to_pair(cosines)

    def offset(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Return the offset of candidates, from their results of `to_pair` with A and with B."""
        return b - a

    def scores(
        self,
        offset: np.ndarray,
        c_offset: np.ndarray,
        c: np.ndarray,
        out: np.ndarray | None = None,
    ) -> np.ndarray:
        """Return the scores of candidates.

        Args:
            offset: the offsets of the candidates.
            c_offset: the offset that C has as a candidate.
            c: results of `to_c` for the candidates.
            out: where to write the scores.
        """
        raise NotImplementedError


class ThreeCosAdd(Solver):
    """cos(D, B) - cos(D, A) + cos(D, C): eq. 1, which is eq. 3 of Levy and Goldberg (2014)."""

    def scores(self, offset, c_offset, c, out=None) -> np.ndarray:
        return np.add(offset, c, out=out)


class ThreeCosMul(Solver):
    """cos(D, B) cos(D, C) / (cos(D, A) + epsilon), as the code of Zhu and de Melo (2020) has it.

    The cosines may be negative, and a small cos(D, A) makes any score large.
    """

    def __init__(self, epsilon: float = 1e-5) -> None:
        self.epsilon = epsilon

    def offset(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        below = a + self.epsilon
        return b / np.where(below == 0, self.epsilon, below)

    def scores(self, offset, c_offset, c, out=None) -> np.ndarray:
        return np.multiply(offset, c, out=out)


class ShiftedThreeCosMul(ThreeCosMul):
    """3CosMul with cosines mapped to (x + 1) / 2: Levy and Goldberg (2014), eq. 4, footnote.

    They set epsilon to .001.
    """

    def __init__(self) -> None:
        super().__init__(0.001)

    def to_pair(self, cosines: np.ndarray) -> np.ndarray:
        return (cosines + 1) / 2


class Parallelogram(Solver):
    """The cosine of B - A and D - C for unit vectors: eq. 6 of Diallo et al. (2019).

    We leave out the length of B - A, which is the same for all candidates.
    """

    def to_c(self, cosines: np.ndarray) -> np.ndarray:
        """Return the inverse of the length of D - C."""
        squared = 2 - 2 * cosines
        return 1 / np.sqrt(np.maximum(squared, NEAREST))

    def scores(self, offset, c_offset, c, out=None) -> np.ndarray:
        shifted = np.subtract(offset, c_offset, out=out)
        return np.multiply(shifted, c, out=out)
