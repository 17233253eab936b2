"""Rankers follow `rankers/__init__.py`, and scores equal those of a plain loop."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from analogyqa.rankers import Encoded, Quadruples, build_ranker
from analogyqa.rankers.analogy import analogy_scores
from analogyqa.rankers.energy import energy, quadruple_energies
from analogyqa.rankers.specs import RANKER_OVERRIDES, RANKERS
from analogyqa.settings.systems import System
from analogyqa.vectors import unit

TEXT_RANKERS = [name for name, entry in RANKERS.items() if entry.reads == "text"]
LEARNED_RANKERS = [name for name, entry in RANKERS.items() if entry.trained or entry.fitted]
VECTOR_RANKERS = [
    name for name, entry in RANKERS.items() if entry.needs_encoder and name not in LEARNED_RANKERS
]


def ranker(name, **options):
    encoder = {} if name in TEXT_RANKERS else {"encoder": "random"}
    return build_ranker(System(title="R", ranker={"name": name, **options}, **encoder))


def vectors(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


# The interface


def encoded(name, pairs=6, prototypes=4):
    """Return the vectors of a split; if a ranker needs prototypes, each pair has all of them."""
    count = prototypes if RANKERS[name].needs_prototypes else 0
    sizes = (pairs, pairs, count, count)
    drawn = [vectors(size, 5, seed=seed) for seed, size in enumerate(sizes)]
    quadruples = np.tile(np.arange(count), pairs), np.repeat(np.arange(pairs), count)
    return Encoded(np.arange(pairs) // 2, *drawn, *quadruples)


@pytest.mark.parametrize("name", VECTOR_RANKERS)
def test_a_ranker_of_vectors_scores_each_pair_and_names_its_best_prototype(name):
    scores, best = ranker(name).scores(encoded(name))
    assert (scores.dtype, scores.shape) == (np.float32, (6,))
    assert np.isfinite(scores).all()
    assert (np.issubdtype(best.dtype, np.integer), best.shape) == (True, (6,))
    assert set(best) <= (set(range(4)) if RANKERS[name].needs_prototypes else {-1})


@pytest.mark.parametrize("name", VECTOR_RANKERS)
def test_a_score_is_the_energy_of_a_pair_and_its_one_prototype(name):
    """Training increases the energies by which candidates are ranked."""
    drawn = encoded(name, prototypes=1)
    scores, _ = ranker(name).scores(drawn)
    corners = [drawn.questions, drawn.candidates]
    corners += [drawn.prototype_questions, drawn.prototype_candidates]
    sizes, rows = [len(side) for side in corners], torch.arange(6)
    starts = np.cumsum(sizes) - sizes
    a, b = (torch.full((6,), start) for start in starts[2:])
    together = torch.from_numpy(np.concatenate(corners))
    (energies,) = ranker(name).energies(Quadruples(together, a, b, rows, rows + 6))
    np.testing.assert_allclose(scores, energies.detach(), atol=1e-6)


@pytest.mark.parametrize("name", VECTOR_RANKERS)
def test_both_sides_begin_with_the_first_and_have_the_specified_number(name):
    corners = torch.from_numpy(vectors(12, 5)).requires_grad_()
    has_prototypes = RANKERS[name].needs_prototypes
    a, b, c, d = torch.arange(12).view(4, 3)
    quadruples = Quadruples(corners, a, b, c, d)
    one, both = (ranker(name).energies(quadruples, sides) for sides in (False, True))
    assert (len(one), len(both)) == (1, RANKERS[name].sides)
    assert all(torch.equal(side, one[0]) == (side is both[0]) for side in both)
    sum(both).sum().backward()
    moved = corners.grad.abs().sum(dim=1).gt(0)
    assert moved[:6].all() == has_prototypes
    assert moved[6:].all()


@pytest.mark.parametrize(("name", "entry"), RANKERS.items())
def test_an_option_is_an_override_of_its_rankers_only(name, entry):
    encoder = {"encoder": "random"} if entry.needs_encoder else {}
    if entry.trained or entry.reads == "words":
        encoder = {"encoder": "words" if entry.reads == "words" else "nbow", "vectors": "v"}
    if entry.trained:
        encoder |= {"training": {"loss": "pairwise"}}
    parts = {"parts": ["a", "b"]} if entry.reads == "scores" else {}
    system = System(title="R", ranker={"name": name, **parts}, **encoder)
    read = [override for override in RANKER_OVERRIDES if system.reads(f"ranker.{override}")]
    assert read == list(entry.options.overrides())
    assert {override.partition(".")[0] for override in read} == {*entry.options.names()} - {"parts"}


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
