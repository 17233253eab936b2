"""The pairwise ranking loss (Rao et al. 2016)."""

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from analogyqa.objectives.energy import energy

if TYPE_CHECKING:
    from analogyqa.examples.batches import Batch


def pairwise_loss(vectors: Tensor, batch: "Batch", margin: float) -> Tensor:
    """Return the loss of a batch, each pair of a question and a candidate taken once."""
    _, first = np.unique(np.stack([batch.c, batch.d]), axis=1, return_index=True)
    c, d, labels = (
        torch.from_numpy(column[first]).to(vectors.device)
        for column in (batch.c, batch.d, batch.labels)
    )
    energies = energy(vectors[c], vectors[d])
    return pairwise(energies, labels, c, margin)


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
