"""The listwise loss over all candidates of a question (Cao et al. 2007, Bian et al. 2017)."""

import numpy as np
import torch
from torch import Tensor

from analogyqa.objectives import Batch, batch_energies
from analogyqa.rankers import Ranker
from analogyqa.settings.systems import Training


def listwise(ranker: Ranker, vectors: Tensor, batch: Batch, training: Training) -> Tensor:
    """Return the mean over questions of the cross-entropy of a softmax over their candidates.

    The correct candidates of a question share its target probability equally. A question without
    correct candidates has no loss.
    """
    (energies,), labels = batch_energies(ranker, vectors, batch)
    _, numbers = np.unique(batch.c, return_inverse=True)
    question_of = torch.from_numpy(numbers).to(vectors.device)
    return softmax_loss(energies, labels, question_of)


def softmax_loss(energies: Tensor, labels: Tensor, question_of: Tensor) -> Tensor:
    """Return the listwise loss of the scores [n] of pairs with labels [n], a scalar.

    `question_of` [n] numbers the question of each pair from 0.
    """
    count = int(question_of.max()) + 1
    is_candidate = question_of == torch.arange(count, device=energies.device)[:, None]
    scores = energies.expand(count, -1).masked_fill(~is_candidate, -torch.inf)
    log_probabilities = scores.log_softmax(dim=1).masked_fill(~is_candidate, 0)
    correct = is_candidate * labels
    target = correct / correct.sum(dim=1, keepdim=True).clamp(min=1)
    return -(target * log_probabilities).sum(dim=1).mean()
