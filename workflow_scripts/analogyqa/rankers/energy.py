"""The energy of quadruples (section 3.3 of the CoNLL paper)."""

from torch import Tensor
from torch.nn.functional import cosine_similarity, normalize


def energy(first: Tensor, second: Tensor) -> Tensor:
    """Return the cosines of two shifts [n, d] (eq. 6): [n], 0 if one of the shifts is zero."""
    # A zero shift, such as that between a prototype and its own question, has no direction. Give
    # it the gradient 0, where `cosine_similarity` would divide rounding noise by its epsilon.
    is_zero = (first == 0).all(dim=-1) | (second == 0).all(dim=-1)
    first, second = (shift.masked_fill(is_zero[:, None], 1) for shift in (first, second))
    return cosine_similarity(first, second, dim=-1).masked_fill(is_zero, 0)


def length(vectors: Tensor) -> Tensor:
    """Return the lengths [n] of vectors [n, d], with a gradient also at 0."""
    return (vectors.square().sum(dim=-1) + 1e-12).sqrt()


def quadruple_energies(vectors: Tensor, a: Tensor, b: Tensor, c: Tensor, d: Tensor) -> Tensor:
    """Return `energy` of the shifts a - b and c - d of quadruples, rows [n] of vectors [u, d]: [n].

    A batch has far fewer pairs than quadruples, so each pair is shifted once, and one product gives
    the cosines of all prototypes with all pairs.
    """
    first, rows = _unit_shifts(vectors, a, b)
    second, columns = _unit_shifts(vectors, c, d)
    return (first @ second.T)[rows, columns]


def _unit_shifts(vectors: Tensor, start: Tensor, end: Tensor) -> tuple[Tensor, Tensor]:
    """Return the distinct shifts in unit length, and the row [n] of each pair in them."""
    pairs, rows = (start * len(vectors) + end).unique(return_inverse=True)
    shifts = vectors[pairs // len(vectors)] - vectors[pairs % len(vectors)]
    is_zero = (shifts == 0).all(dim=-1, keepdim=True)  # see `energy`
    return normalize(shifts.masked_fill(is_zero, 1), dim=-1).masked_fill(is_zero, 0), rows
