"""The losses: contrastive ones of quadruples, and ranking losses of pairs.

The workshop paper sums its loss over both pairs of opposite sides of the parallelogram, and has two
readings. Its text defines the energy as the cosine between shifts. Its eq. 1 is the length of their
difference, which is the same for both pairs, and eq. 2 drives the energy of analogies to 0. `lwda`
follows the text, `lwda_euclidean` the equations, and `lwda_distance` has the energy of the first
and the loss of the second. A ranker without prototypes has only one side.
"""

from collections.abc import Callable
from functools import partial, reduce
from operator import add

import numpy as np
import torch
from torch import Tensor

from analogyqa.rankers import Quadruples, Ranker
from analogyqa.rankers.energy import energy
from analogyqa.settings.systems import Training


def printed(ranker: Ranker, quadruples: Quadruples, labels: Tensor, training: Training) -> Tensor:
    """Return the mean loss with eq. 9 as printed: max((E - m)^2, 0), in which max has no effect."""
    return _mean(contrastive, ranker.energies(quadruples), labels, training)


def hinge(ranker: Ranker, quadruples: Quadruples, labels: Tensor, training: Training) -> Tensor:
    """Return the mean loss with eq. 9 read as max(E - m, 0)^2, the usual contrastive loss."""
    return _mean(partial(contrastive, hinge=True), ranker.energies(quadruples), labels, training)


def lwda(ranker: Ranker, quadruples: Quadruples, labels: Tensor, training: Training) -> Tensor:
    """Return the mean of the CoNLL paper's loss, as printed, summed over the sides.

    Further energies of a ranker, such as `hybrid`, are included in the sum.
    """
    return _mean(contrastive, ranker.energies(quadruples, both_sides=True), labels, training)


def lwda_distance(
    ranker: Ranker, quadruples: Quadruples, labels: Tensor, training: Training
) -> Tensor:
    """Return the mean of the loss of eq. 2 with distances 1 - cosine, summed over the sides."""
    distances = [1 - energies for energies in ranker.energies(quadruples, both_sides=True)]
    return _mean(contrastive_distance, distances, labels, training)


def lwda_euclidean(
    ranker: Ranker, quadruples: Quadruples, labels: Tensor, training: Training
) -> Tensor:
    """Return the mean of the loss of eq. 2 with the distances of eq. 1, summed over the sides."""
    return _mean(contrastive_distance, ranker.distances(quadruples), labels, training)


def _mean(
    loss: Callable[..., Tensor], sides: list[Tensor], labels: Tensor, training: Training
) -> Tensor:
    """Return the mean of a loss [n] of energies or distances, summed over the sides."""
    return reduce(add, [loss(side, labels, training.margin) for side in sides]).mean()


def contrastive(energies: Tensor, labels: Tensor, margin: float, hinge: bool = False) -> Tensor:
    """Return the contrastive loss of similarities [n] with labels [n] (eq. 7-9): [n].

    With `hinge`, wrong pairs below the margin have no loss (Hadsell et al. 2006).
    """
    positive = (1 - energies) ** 2
    beyond = energies - margin
    negative = (beyond.clamp(min=0) if hinge else beyond) ** 2
    return labels * positive + (1 - labels) * negative


def contrastive_distance(distances: Tensor, labels: Tensor, margin: float) -> Tensor:
    """Return the workshop paper's contrastive loss (eq. 2) of distances E: [n].

    The printed max((m - E)^2, 0), in which max has no effect, is read as max(m - E, 0)^2.
    """
    negative = (margin - distances).clamp(min=0) ** 2
    return labels * distances**2 + (1 - labels) * negative


def pairwise(ranker: Ranker, quadruples: Quadruples, labels: Tensor, training: Training) -> Tensor:
    """Return the mean over correct candidates of their mean loss over wrong candidates.

    The terms are max(m - E(correct) + E(wrong), 0) for a correct and a wrong candidate of the same
    question, and the loss is 0 without any. Each correct candidate thus counts once, as in Tan et
    al. (2015), however many its question has. Repeated pairs count once.
    """
    pairs = torch.stack([quadruples.c, quadruples.d]).cpu().numpy()
    _, first = np.unique(pairs, axis=1, return_index=True)
    once = torch.from_numpy(first).to(labels.device)
    questions, labels = quadruples.c[once], labels[once]
    (energies,) = ranker.energies(quadruples._replace(c=questions, d=quadruples.d[once]))
    right, wrong = labels > 0.5, labels <= 0.5
    i, j = (questions[right][:, None] == questions[wrong]).nonzero(as_tuple=True)
    beyond = (training.margin - energies[right][i] + energies[wrong][j]).clamp(min=0)
    wrong_counts = torch.bincount(i, minlength=int(right.sum()))
    return (beyond / wrong_counts[i]).sum() / (wrong_counts > 0).sum().clamp(min=1)


def mix(ranker: Ranker, quadruples: Quadruples, labels: Tensor, training: Training) -> Tensor:
    """Return the sum over correct pairs of the hinge losses with their wrong candidates.

    The loss is max(m - s(q, a+) + s(q, a-), 0) (section 3.6.1 of HyperQA). `negatives.random` wrong
    candidates are random; `negatives.hardest` have the highest current scores among
    `negatives.count` others.
    """
    (energies,) = ranker.energies(quadruples)
    negatives = training.negatives
    by_pair, is_wrong = (
        values.view(-1, 1 + negatives.random + negatives.count)
        for values in (energies, labels < 0.5)
    )
    correct, wrong = by_pair[:, :1], by_pair.masked_fill(~is_wrong, -torch.inf)
    random, others = wrong[:, 1 : 1 + negatives.random], wrong[:, 1 + negatives.random :]
    hardest = others.topk(min(negatives.hardest, negatives.count), dim=1).values
    return (training.margin - correct + torch.cat([random, hardest], dim=1)).clamp(min=0).sum()


def mix_coded(ranker: Ranker, quadruples: Quadruples, labels: Tensor, training: Training) -> Tensor:
    """Return the loss of `mix` for wrong candidates as the code of Rao et al. (2016) chooses them.

    After a correct pair come wrong candidates of its question, if any, in random order. The loss
    takes the `negatives.hardest` whose features have the highest cosines to those of the correct
    pair, and the first `negatives.random` others (castorini/NCE-CNN-Torch, mixNegSample). Features
    are the vectors of both sentences in unit length, so the cosines of candidates give the order.
    They are those of the current step, not of the start of the epoch.
    """
    (energies,) = ranker.energies(quadruples)
    is_correct = labels.cpu().numpy() > 0.5
    pair = is_correct.cumsum() - 1
    first = np.flatnonzero(is_correct)[pair]  # the row of the correct pair of each row
    vectors = quadruples.vectors.detach()[quadruples.d]
    cosines = energy(vectors, vectors[torch.from_numpy(first)]).cpu().numpy()
    rank = np.empty(len(pair), dtype=np.int64)  # 0 for a correct pair, 1 for the hardest wrong one
    rank[np.lexsort((-cosines, ~is_correct, pair))] = np.arange(len(pair)) - first
    is_other = rank > training.negatives.hardest
    others = is_other.cumsum()
    is_chosen = ~is_other | (others - others[first] <= training.negatives.random)
    chosen = np.flatnonzero(is_chosen & ~is_correct)
    beyond = training.margin - energies[torch.from_numpy(first[chosen])]
    return (beyond + energies[torch.from_numpy(chosen)]).clamp(min=0).sum()


def listwise(ranker: Ranker, quadruples: Quadruples, labels: Tensor, training: Training) -> Tensor:
    """Return the mean over questions of the cross-entropy of a softmax over their candidates.

    The correct candidates of a question share its target probability equally. A question without
    correct candidates has no loss.
    """
    (energies,) = ranker.energies(quadruples)
    is_candidate = quadruples.c == quadruples.c.unique()[:, None]
    scores = energies.expand(len(is_candidate), -1).masked_fill(~is_candidate, -torch.inf)
    log_probabilities = scores.log_softmax(dim=1).masked_fill(~is_candidate, 0)
    correct = is_candidate * labels
    target = correct / correct.sum(dim=1, keepdim=True).clamp(min=1)
    return -(target * log_probabilities).sum(dim=1).mean()
