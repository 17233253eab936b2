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

    It is the mean of max(m - E(correct) + E(wrong), 0) over all combinations of a correct and a
    wrong candidate of the same question [n], or 0 without any. Repeated pairs count repeatedly.
    """
    right, wrong = labels > 0.5, labels <= 0.5
    i, j = (questions[right][:, None] == questions[wrong]).nonzero(as_tuple=True)
    beyond = (margin - energies[right][i] + energies[wrong][j]).clamp(min=0)
    return beyond.sum() / max(len(beyond), 1)
