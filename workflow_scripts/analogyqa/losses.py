"""Energies and losses of the quadruples (section 3.3 of the CoNLL paper).

n is a number of quadruples, d the dimension of a sentence vector.
"""

from torch import Tensor
from torch.nn.functional import cosine_similarity


def energy(first: Tensor, second: Tensor) -> Tensor:
    """Cosine of two shifts [n, d] (eq. 6): [n], 0 where one of them is zero."""
    # A zero shift, as between a prototype and its own question, has no direction. Its gradient is
    # set to 0, where `cosine_similarity` would divide rounding noise by its epsilon.
    nowhere = (first == 0).all(dim=-1) | (second == 0).all(dim=-1)
    first, second = (side.masked_fill(nowhere[:, None], 1) for side in (first, second))
    return cosine_similarity(first, second, dim=-1).masked_fill(nowhere, 0)


def contrastive(energies: Tensor, labels: Tensor, margin: float, hinge: bool) -> Tensor:
    """The contrastive loss of similarities [n] with labels [n] (eq. 7-9), [n].

    Eq. 9 prints max((E - m)^2, 0), where the max does nothing; that is `hinge=False`. With
    `hinge=True` it is max(E - m, 0)^2, as contrastive losses are (Hadsell et al. 2006).
    """
    positive = (1 - energies) ** 2
    beyond = energies - margin
    negative = (beyond.clamp(min=0) if hinge else beyond) ** 2
    return labels * positive + (1 - labels) * negative


def contrastive_distance(energies: Tensor, labels: Tensor, margin: float) -> Tensor:
    """The contrastive loss of the workshop paper (its eq. 2) with distances E = 1 - cosine, [n].

    Its max((m - E)^2, 0), where the max does nothing, is read as max(m - E, 0)^2.
    """
    distances = 1 - energies
    negative = (margin - distances).clamp(min=0) ** 2
    return labels * distances**2 + (1 - labels) * negative


def pairwise(energies: Tensor, labels: Tensor, questions: Tensor, margin: float) -> Tensor:
    """The pairwise ranking loss (Rao et al. 2016) of pairs with energies and labels [n], a scalar.

    The mean of max(m - E(correct) + E(wrong), 0) over all correct and wrong candidates of the same
    question, `questions` [n] being a number for each question; 0 where no question has both. A
    pair that comes twice counts twice.
    """
    right, wrong = labels > 0.5, labels <= 0.5
    i, j = (questions[right][:, None] == questions[wrong]).nonzero(as_tuple=True)
    beyond = (margin - energies[right][i] + energies[wrong][j]).clamp(min=0)
    return beyond.sum() / max(len(beyond), 1)
