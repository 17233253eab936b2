"""The listwise loss over all candidates of a question (Cao et al. 2007, Bian et al. 2017)."""

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from analogyqa.objectives import quadruples_of

if TYPE_CHECKING:
    from analogyqa.examples.batches import Batch
    from analogyqa.rankers import Ranker
    from analogyqa.settings.systems import Training


def listwise(ranker: "Ranker", vectors: Tensor, batch: "Batch", training: "Training") -> Tensor:
    """Return the mean over questions of the cross-entropy of a softmax over their candidates.

    The probability that a question has is shared by its correct candidates. Those without a wrong
    one count 0.
    """
    quadruples, labels = quadruples_of(vectors, batch)
    (energies,) = ranker.energies(quadruples)
    _, numbers = np.unique(batch.c, return_inverse=True)
    question_of = torch.from_numpy(numbers).to(vectors.device)
    return softmax_loss(energies, labels, question_of)


def softmax_loss(energies: Tensor, labels: Tensor, question_of: Tensor) -> Tensor:
    """The listwise loss of pairs with energies and labels [n], a scalar.

    `question_of` [n] numbers the questions from 0.
    """
    count = int(question_of.max()) + 1
    is_own = question_of == torch.arange(count, device=energies.device)[:, None]
    scores = energies.expand(count, -1).masked_fill(~is_own, -torch.inf)
    log_shares = scores.log_softmax(dim=1).masked_fill(~is_own, 0)
    right = is_own * labels
    wanted = right / right.sum(dim=1, keepdim=True).clamp(min=1)
    return -(wanted * log_shares).sum(dim=1).mean()
