"""The solvers of A : B :: C : ?, each a formula over the similarities of a candidate D.

All of them start from the cosines of unit vectors. An `offset` says what a candidate gains by A and
B, and `scores` adds what it gains by C. So a solver is vectorised over candidates and over C alike,
and a loop over single candidates gives the same bits. An offset of -inf gives a score of -inf.
"""

from typing import Protocol

import numpy as np

# Levy and Goldberg (2014), section 6: so that nothing is divided by zero.
EPSILON = np.float32(0.001)
# Not zero, which times -inf is no number.
LEAST = np.finfo(np.float32).tiny
# Unit vectors that are nearer to each other than this are one vector.
NEAREST = np.float32(1e-6)


class Solver(Protocol):
    """A formula over float32 arrays that broadcast."""

    def to_pair(self, cosines: np.ndarray) -> np.ndarray:
        """Return what `offset` is made of, for the cosines of candidates and A or B."""
        ...

    def to_c(self, cosines: np.ndarray) -> np.ndarray:
        """Return what `scores` is made of, for the cosines of candidates and C."""
        ...

    def offset(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Return what candidates gain by A and B, of what `to_pair` has of both."""
        ...

    def scores(
        self,
        offset: np.ndarray,
        offset_of_c: np.ndarray,
        c: np.ndarray,
        out: np.ndarray | None = None,
    ) -> np.ndarray:
        """Return the scores of candidates, in `out` where it is given.

        Args:
            offset: of the candidates.
            offset_of_c: of C, were it a candidate.
            c: what `to_c` has of the candidates.
        """
        ...


class ThreeCosAdd:
    """cos(D, B) - cos(D, A) + cos(D, C): eq. 1, as in eq. 3 of Levy and Goldberg (2014)."""

    def to_pair(self, cosines: np.ndarray) -> np.ndarray:
        return cosines

    def to_c(self, cosines: np.ndarray) -> np.ndarray:
        return cosines

    def offset(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return b - a

    def scores(self, offset, offset_of_c, c, out=None) -> np.ndarray:
        return np.add(offset, c, out=out)


class ThreeCosMul:
    """cos(D, B) cos(D, C) / (cos(D, A) + epsilon), cosines shifted to (x + 1) / 2.

    Levy and Goldberg (2014), eq. 4 and the footnote to it.
    """

    def to_pair(self, cosines: np.ndarray) -> np.ndarray:
        return (cosines + np.float32(1)) / np.float32(2)

    def to_c(self, cosines: np.ndarray) -> np.ndarray:
        return np.maximum(self.to_pair(cosines), LEAST)

    def offset(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return b / (a + EPSILON)

    def scores(self, offset, offset_of_c, c, out=None) -> np.ndarray:
        return np.multiply(offset, c, out=out)


class Parallelogram:
    """The cosine of B - A and D - C: eq. 6 of Diallo et al. (2019), of unit vectors.

    The length of B - A is left out, as it is the same for all candidates.
    """

    def to_pair(self, cosines: np.ndarray) -> np.ndarray:
        return cosines

    def to_c(self, cosines: np.ndarray) -> np.ndarray:
        """Return the inverse of the length of D - C."""
        squared = np.float32(2) - np.float32(2) * cosines
        return np.float32(1) / np.sqrt(np.maximum(squared, NEAREST))

    def offset(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return b - a

    def scores(self, offset, offset_of_c, c, out=None) -> np.ndarray:
        shifted = np.subtract(offset, offset_of_c, out=out)
        return np.multiply(shifted, c, out=out)
