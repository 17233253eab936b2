"""The energy of quadruples (section 3.3 of the CoNLL paper)."""

from torch import Tensor
from torch.nn.functional import cosine_similarity


def energy(first: Tensor, second: Tensor) -> Tensor:
    """Return the cosines of two shifts [n, d] (eq. 6): [n], 0 if one of the shifts is zero."""
    # A zero shift, such as that between a prototype and its own question, has no direction. Give
    # it the gradient 0, where `cosine_similarity` would divide rounding noise by its epsilon.
    is_zero = (first == 0).all(dim=-1) | (second == 0).all(dim=-1)
    first, second = (shift.masked_fill(is_zero[:, None], 1) for shift in (first, second))
    return cosine_similarity(first, second, dim=-1).masked_fill(is_zero, 0)
