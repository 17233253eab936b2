"""The pairwise hinge loss with random and hard wrong candidates (Rao et al. 2016)."""

import torch
from torch import Tensor

from analogyqa.objectives import Batch, batch_energies
from analogyqa.rankers import Ranker
from analogyqa.settings.systems import Training


def mix(ranker: Ranker, vectors: Tensor, batch: Batch, training: Training) -> Tensor:
    """Return the sum over correct pairs of the hinge losses with their wrong candidates.

    The loss is max(m - s(q, a+) + s(q, a-), 0) (section 3.6.1 of HyperQA). `negatives.random` wrong
    candidates are random; `negatives.hardest` have the highest current scores among
    `negatives.count` others.
    """
    (energies,), labels = batch_energies(ranker, vectors, batch)
    negatives = training.negatives
    by_pair, is_wrong = (
        values.view(-1, 1 + negatives.random + negatives.count)
        for values in (energies, labels < 0.5)
    )
    correct, wrong = by_pair[:, :1], by_pair.masked_fill(~is_wrong, -torch.inf)
    random, others = wrong[:, 1 : 1 + negatives.random], wrong[:, 1 + negatives.random :]
    hardest = others.topk(min(negatives.hardest, negatives.count), dim=1).values
    return (training.margin - correct + torch.cat([random, hardest], dim=1)).clamp(min=0).sum()
