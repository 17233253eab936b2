"""Scores by analogy and by similarity equal those of a plain loop."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from analogyqa.rankers import Encoded, Quadruples, build_ranker
from analogyqa.rankers.energy import energy, quadruple_energies
from analogyqa.settings.systems import System
from analogyqa.vectors import unit


def ranker(name, **options):
    return build_ranker(System(title="R", ranker={"name": name, **options}, encoder="random"))


def analogy_scores(prototype_shifts, pair_shifts, prototypes, pairs, numbers=None, **options):
    """Return scores and best prototypes from shifts, by vectors whose other end is the origin."""
    shifts = np.asarray(pair_shifts), np.asarray(prototype_shifts)
    sides = [side for shift in shifts for side in (shift, np.zeros_like(shift))]
    if numbers is None:
        numbers = np.zeros(len(pair_shifts), dtype=int)  # one question
    encoded = Encoded(numbers, *sides, np.asarray(prototypes), np.asarray(pairs))
    return ranker("analogy", **options).scores(encoded)


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
    assert (value.item(), zero.grad.tolist()) == (0, [[0, 0]])


def test_the_energies_of_quadruples_match_those_of_their_shifts():
    corners = torch.from_numpy(np.random.default_rng(0).normal(size=(5, 3)))
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


def test_both_sides_of_a_parallelogram():
    vectors = torch.tensor([[0.0, 0], [1, 0], [0, 2], [3, 2]])
    a, b, c, d = torch.arange(4)[:, None]
    quadruples = Quadruples(vectors, a, b, c, d)
    sides = ranker("analogy").energies(quadruples, both_sides=True)
    # a - b = (-1, 0) and c - d = (-3, 0); a - c = (0, -2) and b - d = (-2, -2).
    assert [side.item() for side in sides] == pytest.approx([1, 0.5**0.5])
    assert [side.item() for side in ranker("analogy").distances(quadruples)] == pytest.approx(
        [2, 2]
    )


# Scores


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
    scores, best = analogy_scores(*drawn, aggregate=aggregate)
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
    prototype_shifts, pair_shifts, prototypes, pairs, question_numbers = drawn
    scores, best = analogy_scores(*drawn, aggregate="question")
    for question in set(question_numbers):
        energies = [
            (cosine(prototype_shifts[rank], pair_shifts[pair]), rank)
            for rank, pair in zip(prototypes, pairs, strict=True)
            if question_numbers[pair] == question
        ]
        candidates = np.flatnonzero(question_numbers == question)
        (chosen,) = set(best[candidates])
        highest, _ = max(energies)
        highest_of_chosen = max(value for value, rank in energies if rank == chosen)
        assert highest_of_chosen == pytest.approx(highest, abs=1e-9)
        expected = [cosine(prototype_shifts[chosen], pair_shifts[pair]) for pair in candidates]
        assert scores[candidates].tolist() == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("shifts", "pair", "aggregate", "score", "best"),
    [
        ([[1, 0], [0, 1]], [3, 4], "mean", 0.7, 1),
        ([[0, 1], [1, 0], [2, 0]], [1, 0], "max", 1, 1),  # the first of equal prototypes
        ([[0, 0]], [1, 1], "max", 0, 0),  # a zero shift
        ([[1, 1]], [0, 0], "mean", 0, 0),
    ],
)
def test_analogy_by_hand(shifts, pair, aggregate, score, best):
    quadruples = np.arange(len(shifts)), np.zeros(len(shifts), dtype=int)
    scores, prototypes = analogy_scores(
        np.float32(shifts), np.float32([pair]), *quadruples, aggregate=aggregate
    )
    assert scores.tolist() == pytest.approx([score])
    assert prototypes.tolist() == [best]


@pytest.mark.parametrize(
    ("compare", "expected", "nearest"),
    [("distance", [-3, -5], [0, 1]), ("cosine", [0.6, 1], [1, 1])],
)
def test_distances_by_hand(compare, expected, nearest):
    shifts = np.float32([[0, 0], [3, 4]]), np.float32([[3, 0], [6, 8]])
    scores, best = analogy_scores(*shifts, [0, 1, 0, 1], [0, 0, 1, 1], compare=compare)
    assert (scores.tolist(), best.tolist()) == (pytest.approx(expected), nearest)


def test_cosine_by_hand():
    questions = np.array([[1.0, 0], [1, 0], [3, 4], [0, 0]])
    candidates = np.array([[2.0, 0], [-1, 0], [4, 3], [1, 1]])
    encoded = Encoded(np.arange(4), questions, candidates, *[np.zeros(0)] * 4)
    assert ranker("cosine").scores(encoded)[0].tolist() == pytest.approx([1, -1, 0.96, 0])
    np.testing.assert_allclose(unit(np.array([[3.0, 4], [0, 0]])), [[0.6, 0.8], [0, 0]])
