"""The distance in the ball matches a reference; its gradients, and the scores of HyperQA."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from analogyqa.rankers import Quadruples, build_ranker
from analogyqa.rankers.hyperbolic import BORDER, coded_distance, in_ball, poincare_distance
from analogyqa.settings.systems import System

norms = st.floats(0, 1 - BORDER)
seeds = st.integers(0, 2**31 - 1)


def points(norm, seed, count=1, dim=5):
    drawn = np.random.default_rng(seed).normal(size=(count, dim))
    return torch.from_numpy(norm * drawn / np.linalg.norm(drawn, axis=1, keepdims=True))


def reference(x, y):
    """The distance as printed, in exact fractions."""
    from fractions import Fraction

    x, y = ([Fraction(value) for value in point.ravel().tolist()] for point in (x, y))
    to_border = [1 - sum(value**2 for value in point) for point in (x, y)]
    squared_distance = sum((a - b) ** 2 for a, b in zip(x, y, strict=True))
    argument = 2 * squared_distance / (to_border[0] * to_border[1])  # arcosh(1 + argument)
    return math.log1p(float(argument) + math.sqrt(float(argument) ** 2 + 2 * float(argument)))


def ranker(**options):
    training = {"loss": "mix"}
    values = {"encoder": "nbow", "vectors": "v", "ranker": {"name": "hyperbolic", **options}}
    return build_ranker(System(title="H", **values, training=training), 5, 0)


def energies(ranker, vectors):
    none, half = torch.zeros(0, dtype=torch.long), len(vectors) // 2
    rows = torch.arange(half)
    (scores,) = ranker.energies(Quadruples(vectors, none, none, rows, rows + half))
    return scores


@given(norms, norms, seeds, seeds)
def test_the_distance_matches_its_definition_up_to_the_border(
    first_norm, second_norm, first_seed, second_seed
):
    x, y = points(first_norm, first_seed), points(second_norm, second_seed)
    assert poincare_distance(x, y).item() == pytest.approx(reference(x, y), rel=1e-6, abs=1e-9)


def test_the_coded_distance_by_hand():
    """From (.5, 0) to the origin z is 5 / 3: log(5 / 3 + 2 / 3), not arcosh(5 / 3) = log(3).

    On the border the gap is 0, so z - 1 is 2 * 2 / 1e-6.
    """
    points = in_ball(torch.tensor([[0.5, 0], [0, 0], [3, 0], [0, 2]]), border=0)
    half, border = coded_distance(points[::2], points[1::2]).tolist()
    assert half == pytest.approx(0.847298, abs=2e-6)
    assert border == pytest.approx(math.log(4e6 + 1 + 4e6), abs=1e-9)
    same = coded_distance(points[:1], points[:1]).item()
    assert same == pytest.approx(math.log(1 + 1e-3), rel=1e-6)


@given(st.floats(1e-6, 1e6), seeds)
def test_vectors_outside_the_ball_are_projected_onto_its_border(norm, seed):
    vectors = points(norm, seed, 2)
    projected = in_ball(vectors)
    assert projected.dtype == torch.float64
    assert projected.norm(dim=1).tolist() == pytest.approx([min(norm, 1 - BORDER)] * 2, abs=1e-12)
    if norm < 1 - BORDER:
        assert torch.equal(projected, vectors)


@pytest.mark.parametrize("scale", [0.0, 1e-6, 0.1, 1.0, 100.0])
@pytest.mark.parametrize(
    "options",
    [{"gradient": "euclidean"}, {"gradient": "riemannian"}, {"distance": "coded"}],
    ids=lambda options: "-".join(options.values()),
)
def test_gradients_are_finite_at_the_centre_the_border_and_for_equal_points(scale, options):
    vectors = (scale * points(1.0, 0, 4)).float()
    vectors = torch.cat([vectors, vectors[:2], -vectors[2:]]).requires_grad_()
    hyperbolic = ranker(**options)
    scores = energies(hyperbolic, vectors)
    scores.sum().backward()
    assert torch.isfinite(scores).all()
    assert torch.isfinite(vectors.grad).all()
    assert torch.isfinite(hyperbolic.weight.grad)


def test_a_riemannian_gradient_is_scaled_by_the_inverse_of_the_metric():
    drawn = points(0.6, 0, 2)
    gradients = {}
    for gradient in ("euclidean", "riemannian"):
        vectors = drawn.clone().requires_grad_()
        energies(ranker(gradient=gradient), vectors).sum().backward()
        gradients[gradient] = vectors.grad
    torch.testing.assert_close(
        gradients["riemannian"], gradients["euclidean"] * (1 - 0.36) ** 2 / 4
    )


def test_the_last_layer_may_read_both_vectors():
    concatenating, vectors = ranker(last_layer="concatenated"), 20 * points(1.0, 0, 4)
    vectors = vectors.float()
    # Before training, the added weights are zero.
    assert torch.equal(energies(concatenating, vectors), energies(ranker(), vectors))
    with torch.no_grad():
        concatenating.of_vectors.copy_(torch.arange(10)[:, None] / 10)
    added = energies(concatenating, vectors) - energies(ranker(), vectors)
    weights = torch.arange(10) / 10
    torch.testing.assert_close(added, vectors[:2] @ weights[:5] + vectors[2:] @ weights[5:])


def test_near_pairs_score_higher_before_training():
    vectors = torch.tensor([[0.5, 0], [0.5, 0], [0.4, 0], [-0.4, 0]])
    near, far = energies(ranker(), vectors).tolist()
    assert near > far
