"""The pairwise hinge loss with the wrong candidates of "mix" sampling (Rao et al. 2016)."""

from typing import TYPE_CHECKING

from torch import Tensor

from analogyqa.objectives import batch_energies

if TYPE_CHECKING:
    from analogyqa.examples.batches import Batch
    from analogyqa.rankers import Ranker
    from analogyqa.settings.systems import Training


def mix(ranker: "Ranker", vectors: Tensor, batch: "Batch", training: "Training") -> Tensor:
    """Return the sum over correct pairs of the hinge losses with two wrong candidates each.

    The loss is max(m - s(q, a+) + s(q, a-), 0) (section 3.6.1 of HyperQA). One wrong candidate is
    random; the other has the highest current score among `negatives.count` random ones.
    """
    (energies,), _ = batch_energies(ranker, vectors, batch)
    by_pair = energies.view(-1, 2 + training.negatives.count)
    correct, random, hardest = by_pair[:, 0], by_pair[:, 1], by_pair[:, 2:].amax(dim=1)
    by_random, by_hardest = (
        (training.margin - correct + wrong).clamp(min=0).sum() for wrong in (random, hardest)
    )
    return by_random + by_hardest
