"""Blocks of analogies against a plain loop over them."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analogyqa.analogies import solve as module
from analogyqa.analogies.solve import TIE, Category, asked_after, cosines, solve
from analogyqa.analogies.specs import SOLVERS

NAMES = list(SOLVERS)


def loop(vectors: np.ndarray, category: Category, name: str) -> tuple[np.ndarray, ...]:
    """One analogy, and one candidate, at a time: how often a pair was asked, chosen and tied."""
    solver, constrained = SOLVERS[name].load()(), SOLVERS[name].constrained
    table = cosines(vectors)
    to_pair, to_c = solver.to_pair(table), solver.to_c(table)
    n = len(category.first)
    own = category.candidates
    chosen = np.zeros((n, 2 if own is None else own.shape[1]))
    asked, tied = np.zeros((2, n), dtype=int)
    for pair in range(n):
        a, b = category.first[pair], category.second[pair]
        for place in asked_after(pair, n):
            other = place % n
            c, answer = category.first[other], category.second[other]
            candidates = range(len(vectors)) if own is None else own[other]
            scores = []
            for d in candidates:
                offset = solver.offset(to_pair[a, d], to_pair[b, d])
                of_c = solver.offset(to_pair[a, c], to_pair[b, c])
                is_given = constrained and d in (a, b, c)
                scores.append(-np.inf if is_given else solver.scores(offset, of_c, to_c[c, d]))
            scores = np.array(scores, dtype=np.float32)
            asked[other] += 1
            best = (scores >= scores.max() - TIE) & (scores > -np.inf)
            tied[other] += best.sum() > 1
            shares = best / max(best.sum(), 1)
            chosen[other] += shares if own is not None else (shares[answer], 1 - shares[answer])
    return asked, chosen, tied


def shared(seed: int, pairs: int, dim: int) -> tuple[np.ndarray, Category]:
    random = np.random.default_rng(seed)
    # Some sentences are in several pairs, as the states of cities are.
    numbers = random.integers(0, max(2, 2 * pairs - 3), size=(2, pairs))
    unique, places = np.unique(numbers, return_inverse=True)
    vectors = random.standard_normal((len(unique), dim)).astype(np.float32)
    first, second = places.reshape(2, pairs)
    return vectors, Category(first, second)


def doubled(seed: int, pairs: int, dim: int) -> tuple[np.ndarray, Category]:
    """Shared candidates of which each is there twice, so that every best one ties."""
    vectors, category = shared(seed, pairs, dim)
    return np.concatenate([vectors, vectors]), category


def own(seed: int, pairs: int, dim: int) -> tuple[np.ndarray, Category]:
    random = np.random.default_rng(seed)
    vectors = random.standard_normal((8 * pairs, dim)).astype(np.float32)
    numbers = np.arange(8 * pairs).reshape(pairs, 8)
    vectors[numbers[:, 7]] = vectors[numbers[:, 2]]  # the same words in another order
    return vectors, Category(numbers[:, 0], numbers[:, 2], numbers[:, 2:])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("make", [shared, doubled, own])
def test_blocks_equal_a_plain_loop(name, make, monkeypatch):
    monkeypatch.setattr(module, "BLOCK", 7)
    solved = 0
    for seed, pairs in enumerate((2, 3, 10, 31, 32)):
        vectors, category = make(seed, pairs, 4)
        found = solve(cosines(vectors), category, SOLVERS[name].load()(), SOLVERS[name].constrained)
        asked, chosen, tied = loop(vectors, category, name)
        assert found.asked.tolist() == asked.tolist()
        assert found.tied.tolist() == tied.tolist()
        assert np.allclose(found.chosen, chosen)
        solved += asked.sum()
    assert solved * len(NAMES) * 3 > 10_000


@given(st.integers(2, 60))
def test_pairs_are_asked_for_equally_often(pairs):
    couples = Counter(
        frozenset((pair, other % pairs))
        for pair in range(pairs)
        for other in asked_after(pair, pairs)
    )
    assert set(couples.values()) == {1}
    assert len(couples) == pairs * (pairs - 1) // 2
    asked = Counter(other % pairs for pair in range(pairs) for other in asked_after(pair, pairs))
    assert max(asked.values()) - min(asked[pair] for pair in range(pairs)) <= 1


def test_a_parallelogram_is_solved_by_every_constrained_solver():
    random = np.random.default_rng(0)
    first = random.standard_normal((6, 50))
    shift = 0.5 * random.standard_normal(50)
    vectors = np.concatenate([first, first + shift])
    category = Category(np.arange(6), np.arange(6, 12))
    for name, entry in SOLVERS.items():
        found = solve(cosines(vectors), category, entry.load()(), entry.constrained)
        # Raw cosines around 0 decide 3CosMul by their signs.
        if entry.constrained and name != "3cosmul":
            assert found.chosen[:, 0].sum() == found.asked.sum() == 15


def test_tied_candidates_share_an_analogy():
    vectors, category = own(0, 5, 3)
    found = solve(cosines(vectors), category, SOLVERS["3cosadd"].load()())
    assert found.chosen[:, 0] == pytest.approx(found.chosen[:, 5])
    assert found.chosen.sum(axis=1) == pytest.approx(found.asked)
    assert (found.tied <= found.asked).all()


def test_3cosmul_of_raw_cosines_by_hand():
    solver = SOLVERS["3cosmul"].load()()
    # Candidates by their cosines with A, B and C: a plain one, a negative one, one that is as good
    # as orthogonal to A, and one where the denominator would be zero.
    a, b, c = np.float32([[0.5, 0.5, 0.0, -1e-5], [0.8, -0.8, 0.1, 0.1], [0.6, -0.5, 0.2, 0.2]])
    scores = solver.scores(solver.offset(a, b), None, solver.to_c(c))
    assert scores == pytest.approx([0.48 / 0.50001, 0.4 / 0.50001, 2000, 2000], rel=1e-4)


def test_given_sentences_are_no_answers_where_cosines_are_negative():
    vectors = np.float32([[1, 0], [0, 1], [-1, 0.1], [-0.1, -1]])
    found = solve(cosines(vectors), Category(np.array([0, 2]), np.array([1, 3])),
                  SOLVERS["3cosmul"].load()())  # fmt: skip
    # Of four sentences three are given, so D is always chosen.
    assert found.chosen[:, 0].tolist() == found.asked.tolist()


def test_shifted_3cosmul_shifts_cosines():
    vectors = np.array([[1, 0], [0, 1], [-1, 0]], dtype=np.float32)
    solver = SOLVERS["3cosmul_shifted"].load()()
    shifted = solver.to_pair(cosines(vectors))
    assert shifted[0].tolist() == [1, 0.5, 0]
    score = solver.scores(solver.offset(shifted[0, 1], shifted[1, 1]), None, shifted[2, 1])
    assert float(score) == pytest.approx(1 / 0.501 * 0.5)  # cos' D,B over cos' D,A, times cos' D,C


def test_cosines_of_zero_vectors_are_zero():
    assert cosines(np.zeros((2, 3))).tolist() == [[0, 0], [0, 0]]
