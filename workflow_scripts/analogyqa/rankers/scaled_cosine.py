"""Rank candidates by a linear layer on the cosine (CosineQA, section 4.5 of HyperQA)."""

import torch
from torch import Tensor, nn

from analogyqa.rankers import Quadruples
from analogyqa.rankers.energy import energy
from analogyqa.settings.base import Options
from analogyqa.settings.systems import Training


class ScaledCosineRanker(nn.Module):
    """score(q, a) = w * cos(q, a) + b; learns w, which starts at 1, and b.

    CosineQA is "exactly the same as HyperQA but uses cosine similarity instead of hyperbolic
    distance" (section 4.5), so it has the similarity scoring layer of section 3.5.
    """

    def __init__(self, options: Options, training: Training, dim: int, seed: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(1, 1))
        self.bias = nn.Parameter(torch.zeros(1))

    def energies(self, quadruples: Quadruples, both_sides: bool = False) -> list[Tensor]:
        """Return the scores of the pairs (c, d) as one side: [n]."""
        vectors = quadruples.vectors
        cosines = energy(vectors[quadruples.c], vectors[quadruples.d])
        return [self.weight[0] * cosines + self.bias]
