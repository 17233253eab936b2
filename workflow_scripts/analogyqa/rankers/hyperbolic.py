"""Rank candidates by their distance in the Poincaré ball (section 3.4 and 3.5 of HyperQA)."""

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

if TYPE_CHECKING:
    from analogyqa.rankers import Quadruples
    from analogyqa.rankers.specs import HyperbolicOptions
    from analogyqa.settings.systems import Training

# The ball is open: on its border every distance is infinite (Nickel and Kiela 2017, eq. 5).
BORDER = 1e-5


class HyperbolicRanker(nn.Module):
    """score(q, a) = w * d(q, a) + b, d being the distance in the unit ball; 2 numbers are learnt.

    With `last_layer: concatenated` the score is linear in q and a, too, as they are before they are
    drawn onto the ball: "we concatenated the raw QA embeddings before passing into the final layer"
    (section 4.2 of HyperQA, SemEvalCQA). These weights, 2 * dim more, start at 0.

    Vectors outside of the ball are drawn onto it. With `gradient: riemannian` the gradient with
    respect to a point x is multiplied by (1 - |x|^2)^2 / 4, the inverse of the metric there, as
    eq. 9 is printed; with `euclidean` it is left as it is.

    In the copy of the paper that we have the equations are missing; they are those of Nickel and
    Kiela (2017), which it cites. w starts at -1, so that the near is better than the far.
    """

    def __init__(
        self, options: "HyperbolicOptions", training: "Training", dim: int, seed: int
    ) -> None:
        super().__init__()
        self.riemannian = options.gradient == "riemannian"
        self.weight = nn.Parameter(torch.tensor(-1.0))
        self.bias = nn.Parameter(torch.tensor(0.0))
        concatenated = options.last_layer == "concatenated"
        self.of_vectors = nn.Parameter(torch.zeros(2 * dim)) if concatenated else None

    def energies(self, quadruples: "Quadruples", both_sides: bool = False) -> list[Tensor]:
        """Return the scores of c and d: one side, [n]."""
        points = in_ball(quadruples.vectors)
        if self.riemannian and points.requires_grad:
            factor = (1 - points.detach().square().sum(dim=1, keepdim=True)) ** 2 / 4
            points.register_hook(lambda gradient: gradient * factor)
        distances = poincare_distance(points[quadruples.c], points[quadruples.d])
        scores = self.weight * distances.to(quadruples.vectors.dtype) + self.bias
        if self.of_vectors is not None:
            pairs = quadruples.vectors[torch.stack([quadruples.c, quadruples.d], dim=1)]
            scores = scores + pairs.flatten(1) @ self.of_vectors
        return [scores]


def in_ball(vectors: Tensor) -> Tensor:
    """Return vectors [n, d] as points of the open unit ball, in double precision.

    Those of a norm above 1 - 1e-5 get that norm (section 3.3: "mandatory"). Near the border single
    precision has few digits left of 1 - |x|^2, which the distance needs.
    """
    points = vectors.double()
    norms = points.norm(dim=1, keepdim=True)
    return points * ((1 - BORDER) / norms.clamp(min=1 - BORDER))


def poincare_distance(x: Tensor, y: Tensor) -> Tensor:
    """Return the distances of points [n, d] of the open unit ball, [n].

    d(x, y) = arcosh(1 + 2 |x - y|^2 / ((1 - |x|^2) (1 - |y|^2))) (Nickel and Kiela 2017, eq. 1),
    in the equal form of arsinh, which loses no digits where the points are near each other. That of
    geoopt ends at 16.8; two points of `in_ball` may be 24.4 apart.
    """
    away = [1 - each.square().sum(dim=1) for each in (x, y)]
    return 2 * torch.asinh((x - y).norm(dim=1) / (away[0] * away[1]).sqrt())
