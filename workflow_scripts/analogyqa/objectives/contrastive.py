"""The contrastive loss (eq. 7-9 of the CoNLL paper, eq. 1-3 of the workshop paper)."""

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from analogyqa.objectives.energy import energy
from analogyqa.objectives.pairwise import pairwise_loss

if TYPE_CHECKING:
    from analogyqa.examples.batches import Batch
    from analogyqa.settings.systems import Training


def batch_loss(vectors: Tensor, batch: "Batch", ranker: str, training: "Training") -> Tensor:
    """Return the mean loss of a batch, given the vectors [u, dim] of its unique sentences.

    `printed` and `hinge` are the readings of the CoNLL paper's eq. 9. The workshop paper sums over
    both pairs of opposite sides of the parallelogram (its eq. 3). Its text calls the energy the
    cosine between shifts; its eq. 1 prints the length of their difference, which is the same for
    both pairs, and its eq. 2 brings the energy of analogies to 0. `lwda` takes the energy and loss
    of the CoNLL paper, as printed, for each side, `lwda_distance` eq. 2 with 1 - cosine.

    The similarity baseline sees the same quadruples and reads c and d only, which is one side. The
    pairwise loss compares each pair of a question and a candidate once.
    """
    if training.loss == "pairwise":
        return pairwise_loss(vectors, batch, training.margin)
    a, b, c, d, labels = (
        torch.from_numpy(column).to(vectors.device)
        for column in (batch.a, batch.b, batch.c, batch.d, batch.labels)
    )
    labels = labels.to(vectors.dtype)
    if ranker == "cosine":
        sides = [(vectors[c], vectors[d])]
    else:
        sides = [(vectors[a] - vectors[b], vectors[c] - vectors[d])]
        if training.loss in ("lwda", "lwda_distance"):
            sides.append((vectors[a] - vectors[c], vectors[b] - vectors[d]))
    return sum(_contrastive(energy(*side), labels, training) for side in sides).mean()


def _contrastive(energies: Tensor, labels: Tensor, training: "Training") -> Tensor:
    if training.loss == "lwda_distance":
        return contrastive_distance(energies, labels, training.margin)
    return contrastive(energies, labels, training.margin, hinge=training.loss == "hinge")


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
