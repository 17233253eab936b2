"""Scores by analogy, by similarity and by a mixture of both equal those of a plain loop."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from analogyqa.rankers import Encoded, Quadruples, build_ranker
from analogyqa.rankers.analogy import analogy_scores
from analogyqa.rankers.energy import energy, quadruple_energies
from analogyqa.settings.systems import System
from analogyqa.vectors import unit


def ranker(name, **options):
    return build_ranker(System(title="R", ranker={"name": name, **options}, encoder="random"))


def vectors(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


# The energy


def test_the_energy_is_the_cosine_of_two_shifts():
    first = torch.tensor([[1.0, 0], [1, 0], [1, 0], [3, 4]], dtype=torch.float64)
    second = torch.tensor([[2.0, 0], [0, 5], [-1, 0], [4, 3]], dtype=torch.float64)
    assert energy(first, second).tolist() == pytest.approx([1, 0, -1, 24 / 25])


def test_the_energy_of_a_zero_shift_is_0_and_so_is_its_gradient():
    # A prototype's question against itself: with both sides of the parallelogram a - c is 0.
    zero = torch.zeros(1, 2, requires_grad=True)
    value = energy(zero, torch.ones(1, 2))
    value.sum().backward()
    assert value.item() == 0
    assert zero.grad.tolist() == [[0, 0]]


def test_the_energies_of_quadruples_match_those_of_their_shifts():
    corners = torch.from_numpy(vectors(5, 3)).double()
    corners[1] = corners[0]
    a, b, c, d = torch.randint(5, (4, 60), generator=torch.Generator().manual_seed(0))
    assert (corners[a] == corners[b]).all(dim=1).any()
    together, apart = (corners.clone().requires_grad_() for _ in range(2))
    energies = quadruple_energies(together, a, b, c, d)
    expected = energy(apart[a] - apart[b], apart[c] - apart[d])
    torch.testing.assert_close(energies, expected)
    for values in (energies, expected):
        values.square().sum().backward()
    torch.testing.assert_close(together.grad, apart.grad)


# Scores by analogy and by cosine


def cosine(first, second):
    lengths = np.linalg.norm(first) * np.linalg.norm(second)
    return float(first @ second / lengths) if lengths else 0.0


@st.composite
def quadruples(draw):
    """Draw shifts of prototypes and pairs, and for each pair some prototypes and a question."""
    generator = np.random.default_rng(draw(st.integers(0, 1000)))
    count, pairs, dim = (draw(st.integers(1, 5)) for _ in range(3))
    subsets = st.lists(st.integers(0, count - 1), min_size=1, unique=True)
    prototypes = [draw(subsets) for _ in range(pairs)]
    order = generator.permutation(pairs)
    return (
        generator.normal(size=(count, dim)),
        generator.normal(size=(pairs, dim)),
        np.concatenate([prototypes[pair] for pair in order]),
        np.concatenate([np.full(len(prototypes[pair]), pair) for pair in order]),
        generator.integers(0, 3, size=pairs),
    )


@given(quadruples(), st.sampled_from(["max", "mean"]))
def test_scores_equal_a_plain_loop(drawn, aggregate):
    prototype_shifts, pair_shifts, prototypes, pairs, _ = drawn
    scores, best = analogy_scores(*drawn, aggregate)
    for pair in range(len(pair_shifts)):
        ranks = prototypes[pairs == pair]
        energies = [cosine(prototype_shifts[rank], pair_shifts[pair]) for rank in ranks]
        expected = max(energies) if aggregate == "max" else sum(energies) / len(energies)
        assert scores[pair] == pytest.approx(expected, abs=1e-6)
        energy_of_best = cosine(prototype_shifts[best[pair]], pair_shifts[pair])
        assert best[pair] in ranks
        assert energy_of_best == pytest.approx(max(energies), abs=1e-9)


@given(quadruples())
def test_a_question_has_the_prototype_that_is_best_for_any_candidate(drawn):
    prototype_shifts, pair_shifts, prototypes, pairs, question_of = drawn
    scores, best = analogy_scores(*drawn, "question")
    for question in set(question_of):
        energies = [
            (cosine(prototype_shifts[rank], pair_shifts[pair]), rank)
            for rank, pair in zip(prototypes, pairs, strict=True)
            if question_of[pair] == question
        ]
        candidates = np.flatnonzero(question_of == question)
        (chosen,) = set(best[candidates])
        highest, _ = max(energies)
        highest_of_chosen = max(value for value, rank in energies if rank == chosen)
        assert highest_of_chosen == pytest.approx(highest, abs=1e-9)
        expected = [cosine(prototype_shifts[chosen], pair_shifts[pair]) for pair in candidates]
        assert scores[candidates].tolist() == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("shifts", "pair", "aggregate", "score", "best"),
    [
        ([[1, 0], [0, 1]], [3, 4], "max", 0.8, 1),
        ([[1, 0], [0, 1]], [3, 4], "mean", 0.7, 1),
        ([[0, 1], [1, 0], [2, 0]], [1, 0], "max", 1, 1),  # the first of equal prototypes
        ([[0, 0]], [1, 1], "max", 0, 0),  # a zero shift
        ([[1, 1]], [0, 0], "mean", 0, 0),
    ],
)
def test_analogy_by_hand(shifts, pair, aggregate, score, best):
    shifts, pair = np.array(shifts, dtype=np.float32), np.array([pair], dtype=np.float32)
    indices = np.arange(len(shifts)), np.zeros(len(shifts), dtype=int)
    encoded = Encoded(
        np.zeros(1), pair, np.zeros_like(pair), shifts, np.zeros_like(shifts), *indices
    )
    scores, prototypes = ranker("analogy", aggregate=aggregate).scores(encoded)
    assert scores.tolist() == pytest.approx([score])
    assert prototypes.tolist() == [best]


def test_distances_by_hand():
    shifts, pairs = np.float32([[0, 0], [3, 4]]), np.float32([[3, 0], [6, 8]])
    indices = np.array([0, 1, 0, 1]), np.array([0, 0, 1, 1])
    scores, best = analogy_scores(shifts, pairs, *indices, np.array([0, 0]), "max", "distance")
    assert (scores.tolist(), best.tolist()) == ([-3, -5], [0, 1])
    # By the cosine, the second pair has the direction of the second prototype.
    assert analogy_scores(shifts, pairs, *indices, np.array([0, 0]), "max")[0][1] == pytest.approx(
        1
    )


def test_cosine_by_hand():
    questions = np.array([[1.0, 0], [1, 0], [3, 4], [0, 0]])
    candidates = np.array([[2.0, 0], [-1, 0], [4, 3], [1, 1]])
    encoded = Encoded(np.arange(4), questions, candidates, *[np.zeros(0)] * 4)
    scores, _ = ranker("cosine").scores(encoded)
    assert scores.dtype == np.float32
    assert scores.tolist() == pytest.approx([1, -1, 0.96, 0])
    np.testing.assert_allclose(unit(np.array([[3.0, 4], [0, 0]])), [[0.6, 0.8], [0, 0]])


@pytest.fixture
def rankers():
    """The hybrid ranker and the two that it mixes."""
    return [
        build_ranker(System(title="R", encoder="random", ranker=name))
        for name in ("hybrid", "cosine", "analogy")
    ]


def random_vectors(*shape):
    return np.random.default_rng(sum(shape)).normal(size=shape).astype(np.float32)


@pytest.mark.parametrize("logit", [-1.5, 0.0, 2.0])
def test_the_score_mixes_cosine_and_analogy_by_alpha(rankers, logit):
    prototypes, pairs = np.tile(np.arange(3), 4), np.repeat(np.arange(4), 3)
    sentences = (random_vectors(count, 6) for count in (4, 4, 3, 3))
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
