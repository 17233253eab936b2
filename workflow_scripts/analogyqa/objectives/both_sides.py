"""The workshop paper's loss over both pairs of opposite sides of the parallelogram (its eq. 1-3).

Its text calls the energy the cosine between shifts; its eq. 1 prints the length of their
difference, which is the same for both pairs, and its eq. 2 brings the energy of analogies to 0. So
there are two readings. A ranker without prototypes has one side.
"""

from typing import TYPE_CHECKING

from torch import Tensor

from analogyqa.objectives import quadruples_of
from analogyqa.objectives.contrastive import contrastive

if TYPE_CHECKING:
    from analogyqa.examples.batches import Batch
    from analogyqa.rankers import Ranker
    from analogyqa.settings.systems import Training


def lwda(ranker: "Ranker", vectors: Tensor, batch: "Batch", training: "Training") -> Tensor:
    """Return the mean loss with energy and loss of the CoNLL paper, as printed, for each side.

    A ranker may have further energies, such as those of `hybrid`: it is the sum over all of them.
    """
    quadruples, labels = quadruples_of(vectors, batch)
    sides = ranker.energies(quadruples, both_sides=True)
    return sum(contrastive(each, labels, training.margin, hinge=False) for each in sides).mean()


def lwda_distance(
    ranker: "Ranker", vectors: Tensor, batch: "Batch", training: "Training"
) -> Tensor:
    """Return the mean loss of eq. 2 with distances 1 - cosine, for each side."""
    quadruples, labels = quadruples_of(vectors, batch)
    sides = ranker.energies(quadruples, both_sides=True)
    return sum(contrastive_distance(each, labels, training.margin) for each in sides).mean()


def contrastive_distance(energies: Tensor, labels: Tensor, margin: float) -> Tensor:
    """The contrastive loss of the workshop paper (its eq. 2) with distances E = 1 - cosine, [n].

    Its max((m - E)^2, 0), where the max does nothing, is read as max(m - E, 0)^2.
    """
    distances = 1 - energies
    negative = (margin - distances).clamp(min=0) ** 2
    return labels * distances**2 + (1 - labels) * negative
