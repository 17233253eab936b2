"""The pairwise ranking loss (Severyn and Moschitti 2015, Rao et al. 2016)."""

import numpy as np
import torch
from torch import Tensor

from analogyqa.objectives import Batch, batch_energies
from analogyqa.rankers import Ranker
from analogyqa.settings.systems import Training


def pairwise(ranker: Ranker, vectors: Tensor, batch: Batch, training: Training) -> Tensor:
    """Return the loss of a batch, counting each pair of question and candidate once."""
    _, first = np.unique(np.stack([batch.c, batch.d]), axis=1, return_index=True)
    once = batch._replace(c=batch.c[first], d=batch.d[first], labels=batch.labels[first])
    (energies,), labels = batch_energies(ranker, vectors, once)
    questions = torch.from_numpy(once.c).to(vectors.device)
    return ranking_loss(energies, labels, questions, training.margin)


def ranking_loss(energies: Tensor, labels: Tensor, questions: Tensor, margin: float) -> Tensor:
    """Return the pairwise loss of the scores [n] of pairs with labels [n], a scalar.

    The terms are max(m - E(correct) + E(wrong), 0) for a correct and a wrong candidate of the same
    question [n]. The loss is the mean over correct candidates of their mean over wrong candidates,
    or 0 without any. Each correct candidate thus counts once, as in Tan et al. (2015), however many
    its question has. Repeated pairs count repeatedly.
    """
    right, wrong = labels > 0.5, labels <= 0.5
    i, j = (questions[right][:, None] == questions[wrong]).nonzero(as_tuple=True)
    beyond = (margin - energies[right][i] + energies[wrong][j]).clamp(min=0)
    wrong_of = torch.bincount(i, minlength=int(right.sum()))
    return (beyond / wrong_of[i]).sum() / (wrong_of > 0).sum().clamp(min=1)
