"""The energy of quadruples (section 3.3 of the CoNLL paper)."""

from torch import Tensor
from torch.nn.functional import cosine_similarity


def energy(first: Tensor, second: Tensor) -> Tensor:
    """Cosine of two shifts [n, d] (eq. 6): [n], 0 where one of them is zero."""
    # A zero shift, as between a prototype and its own question, has no direction. Its gradient is
    # set to 0, where `cosine_similarity` would divide rounding noise by its epsilon.
    nowhere = (first == 0).all(dim=-1) | (second == 0).all(dim=-1)
    first, second = (side.masked_fill(nowhere[:, None], 1) for side in (first, second))
    return cosine_similarity(first, second, dim=-1).masked_fill(nowhere, 0)
