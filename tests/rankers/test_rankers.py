"""Scores equal those of a plain loop over the quadruples."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analogyqa.rankers.analogy import analogy_scores
from analogyqa.rankers.cosine import cosine_scores, unit


def cosine(first, second):
    lengths = np.linalg.norm(first) * np.linalg.norm(second)
    return float(first @ second / lengths) if lengths else 0.0


@st.composite
def quadruples(draw):
    """Shifts of prototypes and pairs, and for each pair some of the prototypes."""
    generator = np.random.default_rng(draw(st.integers(0, 1000)))
    count, pairs, dim = (draw(st.integers(1, 5)) for _ in range(3))
    own = st.lists(st.integers(0, count - 1), min_size=1, unique=True)
    prototypes = [draw(own) for _ in range(pairs)]
    order = generator.permutation(pairs)
    return (
        generator.normal(size=(count, dim)),
        generator.normal(size=(pairs, dim)),
        np.concatenate([prototypes[pair] for pair in order]),
        np.concatenate([np.full(len(prototypes[pair]), pair) for pair in order]),
    )


@given(quadruples(), st.sampled_from(["max", "mean"]))
def test_scores_equal_a_plain_loop(drawn, aggregate):
    prototype_shifts, pair_shifts, prototypes, pairs = drawn
    scores, best = analogy_scores(*drawn, aggregate)
    for pair in range(len(pair_shifts)):
        own = prototypes[pairs == pair]
        energies = [cosine(prototype_shifts[one], pair_shifts[pair]) for one in own]
        expected = max(energies) if aggregate == "max" else sum(energies) / len(energies)
        assert scores[pair] == pytest.approx(expected, abs=1e-6)
        reached = cosine(prototype_shifts[best[pair]], pair_shifts[pair])
        assert best[pair] in own
        assert reached == pytest.approx(max(energies), abs=1e-9)


@given(quadruples(), st.floats(0.01, 100), st.floats(0.01, 100))
def test_the_length_of_a_shift_does_not_matter(drawn, first, second):
    prototype_shifts, pair_shifts, *rows = drawn
    scores, _ = analogy_scores(prototype_shifts, pair_shifts, *rows, "max")
    scaled, _ = analogy_scores(first * prototype_shifts, second * pair_shifts, *rows, "max")
    np.testing.assert_allclose(scores, scaled, atol=1e-6)


def test_max_and_mean_by_hand():
    shifts, pair = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[3.0, 4.0]])
    prototypes, pairs = np.array([0, 1]), np.array([0, 0])
    for aggregate, score in (("max", 0.8), ("mean", 0.7)):
        scores, best = analogy_scores(shifts, pair, prototypes, pairs, aggregate)
        assert scores.tolist() == pytest.approx([score])
        assert best.tolist() == [1]


def test_the_first_of_equal_prototypes_is_the_best():
    shifts = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 0.0]])
    _, best = analogy_scores(
        shifts, np.array([[1.0, 0.0]]), np.array([0, 1, 2]), np.array([0, 0, 0]), "max"
    )
    assert best.tolist() == [1]


def test_a_zero_shift_scores_0():
    zero, one = np.zeros((1, 2)), np.ones((1, 2))
    row = np.array([0])
    assert analogy_scores(zero, one, row, row, "max")[0].tolist() == [0]
    assert analogy_scores(one, zero, row, row, "mean")[0].tolist() == [0]
    assert cosine_scores(zero, one).tolist() == [0]


def test_scores_are_float32():
    row = np.array([0])
    assert analogy_scores(np.ones((1, 2)), np.ones((1, 2)), row, row, "max")[0].dtype == np.float32
    assert cosine_scores(np.ones((1, 2)), np.ones((1, 2))).dtype == np.float32


def test_cosine_scores_by_hand():
    questions = np.array([[1.0, 0.0], [1.0, 0.0], [3.0, 4.0]])
    candidates = np.array([[2.0, 0.0], [-1.0, 0.0], [4.0, 3.0]])
    assert cosine_scores(questions, candidates).tolist() == pytest.approx([1, -1, 0.96])


def test_unit_vectors_have_length_1_and_zero_stays_zero():
    np.testing.assert_allclose(unit(np.array([[3.0, 4.0], [0, 0]])), [[0.6, 0.8], [0, 0]])
