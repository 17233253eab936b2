"""The pairwise ranking loss (Severyn and Moschitti 2015, Rao et al. 2016)."""

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from analogyqa.objectives import quadruples_of

if TYPE_CHECKING:
    from analogyqa.examples.batches import Batch
    from analogyqa.rankers import Ranker
    from analogyqa.settings.systems import Training


def pairwise(ranker: "Ranker", vectors: Tensor, batch: "Batch", training: "Training") -> Tensor:
    """Return the loss of a batch, each pair of a question and a candidate taken once."""
    _, first = np.unique(np.stack([batch.c, batch.d]), axis=1, return_index=True)
    once = batch._replace(c=batch.c[first], d=batch.d[first], labels=batch.labels[first])
    quadruples, labels = quadruples_of(vectors, once)
    (energies,) = ranker.energies(quadruples)
    questions = torch.from_numpy(once.c).to(vectors.device)
    return ranking_loss(energies, labels, questions, training.margin)


def ranking_loss(energies: Tensor, labels: Tensor, questions: Tensor, margin: float) -> Tensor:
    """The pairwise loss of pairs with energies and labels [n], a scalar.

    The mean of max(m - E(correct) + E(wrong), 0) over all correct and wrong candidates of the same
    question, `questions` [n] being a number for each question; 0 where no question has both. A
    pair that comes twice counts twice.
    """
    right, wrong = labels > 0.5, labels <= 0.5
    i, j = (questions[right][:, None] == questions[wrong]).nonzero(as_tuple=True)
    beyond = (margin - energies[right][i] + energies[wrong][j]).clamp(min=0)
    return beyond.sum() / max(len(beyond), 1)
