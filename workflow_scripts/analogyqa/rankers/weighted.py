"""Rankers that learn one or two weights besides those of the encoder."""

import numpy as np
import torch
from torch import Tensor, nn

from analogyqa.rankers import Encoded, Quadruples
from analogyqa.rankers.analogy import AnalogyRanker, CosineRanker
from analogyqa.rankers.energy import energy
from analogyqa.rankers.specs import AnalogyOptions
from analogyqa.settings.base import Options
from analogyqa.settings.systems import Training


class ScaledCosineRanker(nn.Module):
    """score(q, a) = w * cos(q, a) + b (CosineQA of HyperQA); learns w, which starts at 1, and b.

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


class HybridRanker(nn.Module):
    """score(q, a) = alpha cos(q, a) + (1 - alpha) max over prototypes of cos(q_p - a_p, q - a).

    Both parts have the same encoder. One parameter is learned: alpha is its logistic function, and
    starts at 1/2.
    """

    def __init__(self, options: AnalogyOptions, *unused: object) -> None:
        super().__init__()
        self.by_analogy, self.by_cosine = AnalogyRanker(options), CosineRanker()
        self.logit = nn.Parameter(torch.tensor(0.0))

    @property
    def alpha(self) -> Tensor:
        return torch.sigmoid(self.logit)

    def scores(self, encoded: Encoded) -> tuple[np.ndarray, np.ndarray]:
        """Score pairs: float32 [M], and the row of each best prototype by analogy, int [M]."""
        analogy, best = self.by_analogy.scores(encoded)
        cosine, _ = self.by_cosine.scores(encoded)
        alpha = np.float32(self.alpha.item())
        return alpha * cosine + (1 - alpha) * analogy, best

    def energies(self, quadruples: Quadruples, both_sides: bool = False) -> list[Tensor]:
        """Return the mixture [n]; with `both_sides`, also the cosine and the analogy.

        A loss summed over these trains the encoder for both, and alpha through the mixture.
        """
        (analogy,) = self.by_analogy.energies(quadruples)
        (cosine,) = self.by_cosine.energies(quadruples)
        mixture = self.alpha * cosine + (1 - self.alpha) * analogy
        return [mixture, cosine, analogy] if both_sides else [mixture]
