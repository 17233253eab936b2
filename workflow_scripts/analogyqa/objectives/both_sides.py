"""The workshop paper's loss over both pairs of opposite sides of the parallelogram (eq. 1-3).

The paper has two readings. Its text defines the energy as the cosine between shifts. Its eq. 1 is
the length of their difference, which is the same for both pairs, and eq. 2 drives the energy of
analogies to 0. `lwda` follows the text, `lwda_euclidean` the equations, and `lwda_distance` has the
energy of the first and the loss of the second. A ranker without prototypes has only one side.
"""

from functools import reduce
from operator import add

from torch import Tensor

from analogyqa.objectives import Batch, batch_energies, batch_quadruples
from analogyqa.objectives.contrastive import contrastive
from analogyqa.rankers import Ranker
from analogyqa.settings.systems import Training


def lwda(ranker: Ranker, vectors: Tensor, batch: Batch, training: Training) -> Tensor:
    """Return the mean of the CoNLL paper's loss, as printed, summed over the sides.

    Further energies of a ranker, such as `hybrid`, are included in the sum.
    """
    sides, labels = batch_energies(ranker, vectors, batch, both_sides=True)
    losses = [contrastive(energies, labels, training.margin, hinge=False) for energies in sides]
    return reduce(add, losses).mean()


def lwda_distance(ranker: Ranker, vectors: Tensor, batch: Batch, training: Training) -> Tensor:
    """Return the mean of the loss of eq. 2 with distances 1 - cosine, summed over the sides."""
    sides, labels = batch_energies(ranker, vectors, batch, both_sides=True)
    losses = [contrastive_distance(1 - energies, labels, training.margin) for energies in sides]
    return reduce(add, losses).mean()


def lwda_euclidean(ranker: Ranker, vectors: Tensor, batch: Batch, training: Training) -> Tensor:
    """Return the mean of the loss of eq. 2 with the distances of eq. 1, summed over the sides."""
    quadruples, labels = batch_quadruples(vectors, batch)
    losses = [
        contrastive_distance(distances, labels, training.margin)
        for distances in ranker.distances(quadruples)
    ]
    return reduce(add, losses).mean()


def contrastive_distance(distances: Tensor, labels: Tensor, margin: float) -> Tensor:
    """Return the workshop paper's contrastive loss (eq. 2) of distances E: [n].

    The printed max((m - E)^2, 0), in which max has no effect, is read as max(m - E, 0)^2.
    """
    negative = (margin - distances).clamp(min=0) ** 2
    return labels * distances**2 + (1 - labels) * negative
