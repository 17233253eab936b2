"""CosineQA: the linear layer on the cosine."""

import pytest
import torch

from analogyqa.rankers import Quadruples, build_ranker
from analogyqa.settings.systems import System


def test_the_score_applies_a_linear_layer_to_the_cosine():
    """The cosines of (1, 0) with (3, 4) and (0, 2) are .6 and 0."""
    values = {"encoder": "nbow", "vectors": "v", "ranker": "scaled_cosine"}
    ranker = build_ranker(System(title="C", **values, training={"loss": "mix"}), 2, 0)
    vectors = torch.tensor([[1.0, 0], [3, 4], [0, 2]])
    none, c, d = torch.zeros(0, dtype=torch.long), torch.tensor([0, 0]), torch.tensor([1, 2])
    (scores,) = ranker.energies(Quadruples(vectors, none, none, c, d))
    assert scores.tolist() == pytest.approx([0.6, 0])  # before training
    with torch.no_grad():
        ranker.weight.fill_(-2)
        ranker.bias.fill_(0.5)
    (scores,) = ranker.energies(Quadruples(vectors, none, none, c, d))
    assert scores.tolist() == pytest.approx([-0.7, 0.5])
    scores.sum().backward()
    assert (ranker.weight.grad.item(), ranker.bias.grad.item()) == pytest.approx((0.6, 2))
