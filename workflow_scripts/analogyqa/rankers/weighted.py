"""Rankers that learn a few weights besides those of the encoder."""

import numpy as np
import torch
from torch import Tensor, nn

from analogyqa.rankers import Encoded, Quadruples
from analogyqa.rankers.analogy import AnalogyRanker, CosineRanker
from analogyqa.rankers.energy import energy
from analogyqa.rankers.specs import AnalogyOptions, HyperbolicOptions
from analogyqa.settings.base import Options
from analogyqa.settings.systems import Training

# The distance of all points from the border, where distances are infinite (Nickel and Kiela 2017,
# eq. 5).
BORDER = 1e-5


class _LinearRanker(nn.Module):
    """score(q, a) = w * c(q, a) + b, the similarity scoring layer of HyperQA (section 3.5)."""

    def __init__(self, first_weight: float) -> None:
        super().__init__()
        # Weights are matrices and biases are vectors, which some optimisers tell apart.
        self.weight = nn.Parameter(torch.full((1, 1), first_weight))
        self.bias = nn.Parameter(torch.zeros(1))

    def compare(self, quadruples: Quadruples) -> Tensor:
        """Return c of the pairs (c, d): [n]."""
        raise NotImplementedError

    def energies(self, quadruples: Quadruples, both_sides: bool = False) -> list[Tensor]:
        return [self.weight[0] * self.compare(quadruples) + self.bias]


class ScaledCosineRanker(_LinearRanker):
    """score(q, a) = w * cos(q, a) + b (CosineQA of HyperQA); learns w, which starts at 1, and b.

    CosineQA is "exactly the same as HyperQA but uses cosine similarity instead of hyperbolic
    distance" (section 4.5).
    """

    def __init__(self, options: Options, training: Training, dim: int, seed: int) -> None:
        super().__init__(first_weight=1.0)

    def compare(self, quadruples: Quadruples) -> Tensor:
        vectors = quadruples.vectors
        return energy(vectors[quadruples.c], vectors[quadruples.d])


class HyperbolicRanker(_LinearRanker):
    """score(q, a) = w * d(q, a) + b, with the distance in the Poincaré ball (HyperQA, section 3.4).

    With `last_layer: concatenated`, the score is also linear in q and a before their projection
    onto the ball: "we concatenated the raw QA embeddings before passing into the final layer"
    (section 4.3.3 of HyperQA, SemEvalCQA). These 2 * dim weights start at 0.

    Vectors outside the ball are projected onto it. With `distance: coded`, points may lie on the
    border, as in the authors' code. With `gradient: riemannian`, the gradient with respect to a
    point x is multiplied by (1 - |x|^2)^2 / 4, the inverse of the metric at x, as in the printed
    eq. 9. With `euclidean`, it is not changed.

    Our copy of the paper lacks the equations; we take those of Nickel and Kiela (2017), which it
    cites. w starts at -1, so that near pairs score higher than distant ones.
    """

    def __init__(self, options: HyperbolicOptions, training: Training, dim: int, seed: int) -> None:
        super().__init__(first_weight=-1.0)
        self.riemannian = options.gradient == "riemannian"
        self.coded = options.distance == "coded"
        concatenated = options.last_layer == "concatenated"
        self.of_vectors = nn.Parameter(torch.zeros(2 * dim, 1)) if concatenated else None

    def compare(self, quadruples: Quadruples) -> Tensor:
        points = in_ball(quadruples.vectors, border=0 if self.coded else BORDER)
        if self.riemannian and points.requires_grad:
            factor = (1 - points.detach().square().sum(dim=1, keepdim=True)) ** 2 / 4
            points.register_hook(lambda gradient: gradient * factor)
        distance = coded_distance if self.coded else poincare_distance
        return distance(points[quadruples.c], points[quadruples.d]).to(quadruples.vectors.dtype)

    def energies(self, quadruples: Quadruples, both_sides: bool = False) -> list[Tensor]:
        (scores,) = super().energies(quadruples)
        if self.of_vectors is None:
            return [scores]
        pairs = quadruples.vectors[torch.stack([quadruples.c, quadruples.d], dim=1)]
        return [scores + (pairs.flatten(1) @ self.of_vectors)[:, 0]]


def in_ball(vectors: Tensor, border: float = BORDER) -> Tensor:
    """Return vectors [n, d] as points of the unit ball, in double precision.

    Norms above 1 - `border` become 1 - `border` (section 3.3: "mandatory"). Near the border, single
    precision would leave few digits of 1 - |x|^2, which the distance needs.
    """
    points = vectors.double()
    norms = points.norm(dim=1, keepdim=True)
    return points * ((1 - border) / norms.clamp(min=1 - border))


def poincare_distance(x: Tensor, y: Tensor) -> Tensor:
    """Return the distances [n] between points [n, d] of the open unit ball.

    d(x, y) = arcosh(1 + 2 |x - y|^2 / ((1 - |x|^2) (1 - |y|^2))) (Nickel and Kiela 2017, eq. 1),
    computed in the equivalent form with arsinh, which loses no digits for points near each other.
    geoopt's distances end at 16.8, while two points of `in_ball` may be 24.4 apart.
    """
    gap_x, gap_y = (1 - point.square().sum(dim=1) for point in (x, y))
    return 2 * torch.asinh((x - y).norm(dim=1) / (gap_x * gap_y).sqrt())


def coded_distance(x: Tensor, y: Tensor) -> Tensor:
    """Return the distances [n] between points [n, d] of the unit ball as the authors' code does.

    With z = 1 + 2 |x - y|^2 / ((1 - |x|^2) (1 - |y|^2) + e) and e = 1e-6, it is
    log(z + sqrt((z - 1)^2 + e)). The code calls this arcosh(z), which is log(z + sqrt(z^2 - 1)):
    the coded value is smaller, and near 0 it grows with the square of |x - y|. Two equal points are
    1e-3 apart.
    """
    epsilon = 1e-6
    gap_x, gap_y = (1 - point.square().sum(dim=1) for point in (x, y))
    z = 1 + 2 * (x - y).square().sum(dim=1) / (gap_x * gap_y + epsilon)
    return torch.log(z + ((z - 1).square() + epsilon).sqrt())


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
