"""Rankers that learn a few weights: distances in the ball, and mixtures of two scores."""

import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from analogyqa.rankers import Encoded, Quadruples, build_ranker
from analogyqa.rankers.weighted import BORDER, coded_distance, in_ball, poincare_distance
from analogyqa.settings.systems import System

norms = st.floats(0, 1 - BORDER)
seeds = st.integers(0, 2**31 - 1)


def ranker(name="hyperbolic", dim=5, **options):
    values = {"encoder": "nbow", "vectors": "v", "training": {"loss": "mix"}}
    return build_ranker(System(title="H", ranker={"name": name, **options}, **values), dim, 0)


def energies(ranker, vectors):
    """Return the scores of the first half of vectors with the second."""
    none, half = torch.zeros(0, dtype=torch.long), len(vectors) // 2
    rows = torch.arange(half)
    (scores,) = ranker.energies(Quadruples(vectors, none, none, rows, rows + half))
    return scores


# The ball


def points(norm, seed, count=1, dim=5):
    drawn = np.random.default_rng(seed).normal(size=(count, dim))
    return torch.from_numpy(norm * drawn / np.linalg.norm(drawn, axis=1, keepdims=True))


def reference(x, y):
    """The distance as printed, in exact fractions."""
    x, y = ([Fraction(value) for value in point.ravel().tolist()] for point in (x, y))
    to_border = [1 - sum(value**2 for value in point) for point in (x, y)]
    squared_distance = sum((a - b) ** 2 for a, b in zip(x, y, strict=True))
    argument = 2 * squared_distance / (to_border[0] * to_border[1])  # arcosh(1 + argument)
    return math.log1p(float(argument) + math.sqrt(float(argument) ** 2 + 2 * float(argument)))


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
    for values in (scores, vectors.grad, hyperbolic.weight.grad):
        assert values.isfinite().all()


def test_a_riemannian_gradient_is_scaled_by_the_inverse_of_the_metric():
    gradients = []
    for gradient in ("riemannian", "euclidean"):
        vectors = points(0.6, 0, 2).requires_grad_()
        energies(ranker(gradient=gradient), vectors).sum().backward()
        gradients.append(vectors.grad)
    torch.testing.assert_close(gradients[0], gradients[1] * (1 - 0.36) ** 2 / 4)


def test_the_last_layer_may_read_both_vectors():
    concatenating, vectors = ranker(last_layer="concatenated"), 20 * points(1.0, 0, 4).float()
    # Before training, the added weights are zero.
    assert torch.equal(energies(concatenating, vectors), energies(ranker(), vectors))
    weights = torch.arange(10) / 10
    with torch.no_grad():
        concatenating.of_vectors.copy_(weights[:, None])
    added = energies(concatenating, vectors) - energies(ranker(), vectors)
    torch.testing.assert_close(added, vectors[:2] @ weights[:5] + vectors[2:] @ weights[5:])


def test_near_pairs_score_higher_before_training():
    near, far = energies(ranker(), torch.tensor([[0.5, 0], [0.5, 0], [0.4, 0], [-0.4, 0]]))
    assert near > far


# Cosines, and mixtures of cosine and analogy


def test_the_score_applies_a_linear_layer_to_the_cosine():
    """The cosines of (1, 0) with (3, 4) and (0, 2) are .6 and 0."""
    scaled = ranker("scaled_cosine", 2)
    vectors = torch.tensor([[1.0, 0], [1, 0], [3, 4], [0, 2]])
    assert energies(scaled, vectors).tolist() == pytest.approx([0.6, 0])  # before training
    with torch.no_grad():
        scaled.weight.fill_(-2)
        scaled.bias.fill_(0.5)
    assert energies(scaled, vectors).tolist() == pytest.approx([-0.7, 0.5])


@pytest.fixture
def rankers():
    return [
        build_ranker(System(title="R", encoder="random", ranker=name))
        for name in ("hybrid", "cosine", "analogy")
    ]


@pytest.mark.parametrize("logit", [-1.5, 0.0, 2.0])
def test_the_score_mixes_cosine_and_analogy_by_alpha(rankers, logit):
    prototypes, pairs = np.tile(np.arange(3), 4), np.repeat(np.arange(4), 3)
    sentences = np.split(np.random.default_rng(0).normal(size=(14, 6)), [4, 8, 11])
    encoded = Encoded(np.zeros(4, dtype=int), *sentences, prototypes, pairs)
    rankers[0].logit.data.fill_(logit)
    (mixed, best), (cosine, _), (analogy, expected) = (ranker.scores(encoded) for ranker in rankers)
    alpha = 1 / (1 + np.exp(-logit))
    assert mixed == pytest.approx(alpha * cosine + (1 - alpha) * analogy, abs=1e-6)
    assert (best == expected).all()


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
