"""A mixture of analogy and similarity, with a learned weight."""

import numpy as np
import pytest
import torch

from analogyqa.rankers import Encoded, Quadruples, build_ranker
from analogyqa.settings.systems import System


@pytest.fixture
def rankers():
    """The hybrid ranker and the two that it mixes."""
    return [
        build_ranker(System(title="R", encoder="random", ranker=name))
        for name in ("hybrid", "cosine", "analogy")
    ]


def vectors(*shape):
    return np.random.default_rng(sum(shape)).normal(size=shape).astype(np.float32)


@pytest.mark.parametrize("logit", [-1.5, 0.0, 2.0])
def test_the_score_mixes_cosine_and_analogy_by_alpha(rankers, logit):
    prototypes, pairs = np.tile(np.arange(3), 4), np.repeat(np.arange(4), 3)
    sentences = (vectors(count, 6) for count in (4, 4, 3, 3))
    encoded = Encoded(np.zeros(4, dtype=int), *sentences, prototypes, pairs)
    hybrid = rankers[0]
    hybrid.logit.data.fill_(logit)
    (mixed, best), (cosine, _), (analogy, expected) = (ranker.scores(encoded) for ranker in rankers)
    alpha = 1 / (1 + np.exp(-logit))
    assert mixed == pytest.approx(alpha * cosine + (1 - alpha) * analogy, abs=1e-6)
    assert (best == expected).all() and mixed.dtype == np.float32


def test_the_loss_moves_alpha_to_the_ranker_that_separates_right_from_wrong(rankers):
    """The right pairs have a cosine of 1, and all pairs have the same analogy."""
    hybrid, up, right = rankers[0], torch.eye(4)[0], torch.eye(4)[1]
    corners = torch.stack([up, right, up, up, up, right])
    a, b = torch.tensor([0, 0]), torch.tensor([1, 1])
    quadruples = Quadruples(corners, a, b, torch.tensor([2, 4]), torch.tensor([3, 5]))
    mixture, cosine, _ = hybrid.energies(quadruples, both_sides=True)
    assert cosine.tolist() == pytest.approx([1, 0])
    (mixture[1] - mixture[0]).backward()
    assert hybrid.logit.grad != 0
    assert hybrid.energies(quadruples)[0].tolist() == mixture.tolist()
