"""The contrastive loss (eq. 7-9 of the CoNLL paper)."""

from torch import Tensor

from analogyqa.objectives import Batch, batch_energies
from analogyqa.rankers import Ranker
from analogyqa.settings.systems import Training


def printed(ranker: Ranker, vectors: Tensor, batch: Batch, training: Training) -> Tensor:
    """Return the mean loss with eq. 9 as printed: max((E - m)^2, 0), in which max has no effect."""
    (energies,), labels = batch_energies(ranker, vectors, batch)
    return contrastive(energies, labels, training.margin, hinge=False).mean()


def hinge(ranker: Ranker, vectors: Tensor, batch: Batch, training: Training) -> Tensor:
    """Return the mean loss with eq. 9 read as max(E - m, 0)^2, the usual contrastive loss."""
    (energies,), labels = batch_energies(ranker, vectors, batch)
    return contrastive(energies, labels, training.margin, hinge=True).mean()


def contrastive(energies: Tensor, labels: Tensor, margin: float, hinge: bool) -> Tensor:
    """Return the contrastive loss of similarities [n] with labels [n] (eq. 7-9): [n].

    With `hinge`, wrong pairs below the margin have no loss (Hadsell et al. 2006).
    """
    positive = (1 - energies) ** 2
    beyond = energies - margin
    negative = (beyond.clamp(min=0) if hinge else beyond) ** 2
    return labels * positive + (1 - labels) * negative
