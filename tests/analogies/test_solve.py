"""Blocks of analogies give the results of a plain loop over them."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analogyqa.analogies import solve as solve_module
from analogyqa.analogies.solve import TIE, Category, Rules, cosines, solve, target_pairs
from analogyqa.analogies.specs import SOLVERS
from analogyqa.vectors import unit

NAMES = list(SOLVERS)


def solve_by_loop(
    vectors: np.ndarray, category: Category, name: str, rules: Rules
) -> tuple[np.ndarray, ...]:
    """Solve one question at a time; return the counts of `Solved`."""
    solver, table = SOLVERS[name].load()(), cosines(vectors, exact=rules.first_wins)
    to_pair, to_c = solver.to_pair(table), solver.to_c(table)
    n = len(category.first)
    choices = category.candidates
    chosen = np.zeros((n, 3 if choices is None else choices.shape[1] + 1))
    chosen_by = np.zeros_like(chosen)
    asked, tied, given = np.zeros((3, n), dtype=int)
    in_order = np.stack(category[:2], axis=1).ravel()
    for pair in range(n):
        a, b = category.first[pair], category.second[pair]
        for position in target_pairs(pair, n, rules.both_directions):
            other = position % n
            c, answer = category.first[other], category.second[other]
            candidates = np.arange(len(vectors)) if choices is None else choices[other]
            answer, c_place = (answer, c) if choices is None else (0, None)
            is_input = np.isin(candidates, [a, b, c])
            if choices is None and rules.as_coded:
                candidates, answer, c_place = in_order, 2 * other + 1, 2 * other
                is_input = np.arange(2 * n) == 2 * other
            elif rules.as_coded:
                is_input = np.zeros(len(candidates), dtype=bool)
            scores = []
            for number, d in enumerate(candidates):
                offset = solver.offset(to_pair[a, d], to_pair[b, d])
                c_offset = solver.offset(to_pair[a, c], to_pair[b, c])
                if choices is None and rules.as_coded and rules.constrained and pair % 2 == 0:
                    offset = -100.0 if number // 2 == pair else offset
                is_excluded = rules.constrained and is_input[number]
                scores.append(
                    -np.inf if is_excluded else solver.scores(offset, c_offset, to_c[c, d])
                )
            scores = np.array(scores, dtype=table.dtype)
            asked[other] += 1
            given[pair] += 1
            best = (scores >= scores.max() - TIE) & (scores > -np.inf)
            shares = shared_shares = best / max(best.sum(), 1)
            if rules.first_wins and best.any():
                best = scores == scores.max()
                shares = np.eye(len(best))[np.flatnonzero(best)[0]]
            tied[other] += best.sum() > 1
            others = shares[1:] if choices is not None else [shares[c_place]]
            columns = np.array([shares[answer], shared_shares[answer], *others])
            chosen[other] += columns
            chosen_by[pair] += columns
    return asked, chosen, tied, given, chosen_by


def shared(seed: int, pairs: int, dim: int) -> tuple[np.ndarray, Category]:
    """Return pairs whose candidates are the sentences of all pairs."""
    random = np.random.default_rng(seed)
    # Some sentences are in several pairs, as the states of cities are.
    numbers = random.integers(0, max(2, 2 * pairs - 3), size=(2, pairs))
    unique, places = np.unique(numbers, return_inverse=True)
    vectors = random.standard_normal((len(unique), dim)).astype(np.float32)
    first, second = places.reshape(2, pairs)
    return vectors, Category(first, second)


def doubled(seed: int, pairs: int, dim: int) -> tuple[np.ndarray, Category]:
    """Return shared candidates, each of them twice, so that every best candidate ties."""
    vectors, category = shared(seed, pairs, dim)
    return np.concatenate([vectors, vectors]), category


def with_distractors(seed: int, pairs: int, dim: int) -> tuple[np.ndarray, Category]:
    """Return pairs with candidates of their own, the right one and five distractors."""
    random = np.random.default_rng(seed)
    vectors = random.standard_normal((8 * pairs, dim)).astype(np.float32)
    numbers = np.arange(8 * pairs).reshape(pairs, 8)
    vectors[numbers[:, 7]] = vectors[numbers[:, 2]]  # the same words in another order
    return vectors, Category(numbers[:, 0], numbers[:, 2], numbers[:, 2:])


RULES = [Rules(), Rules(as_coded=True, first_wins=True, both_directions=True)]
RULES += [Rules(as_coded=True), Rules(first_wins=True), Rules(both_directions=True)]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("make", [shared, doubled, with_distractors])
def test_blocks_equal_a_plain_loop(name, make, monkeypatch):
    monkeypatch.setattr(solve_module, "BLOCK", 7)
    question_count = 0
    for rules in RULES:
        rules = rules._replace(constrained=SOLVERS[name].constrained)
        for seed, pairs in enumerate((2, 3, 10, 13)):
            vectors, category = make(seed, pairs, 4)
            table = cosines(vectors, exact=rules.first_wins)
            solution = solve(table, category, SOLVERS[name].load()(), rules)
            expected = solve_by_loop(vectors, category, name, rules)
            for counts, expected_counts in zip(solution, expected, strict=True):
                np.testing.assert_allclose(counts, expected_counts)
            question_count += solution.questions.sum()
    assert question_count * len(NAMES) * 3 > 10_000


@given(st.integers(2, 60))
def test_pairs_are_asked_equally_often(pairs):
    one, both = (
        [
            (pair, other % pairs)
            for pair in range(pairs)
            for other in target_pairs(pair, pairs, both)
        ]
        for both in (False, True)
    )
    assert len({frozenset(couple) for couple in one}) == len(one) == pairs * (pairs - 1) // 2
    asked = Counter(other for _, other in one)
    assert max(asked.values()) - min(asked[pair] for pair in range(pairs)) <= 1
    assert len(set(both)) == len(both) == pairs * (pairs - 1)
    assert all(pair != other for pair, other in both)


def test_a_parallelogram_is_solved_by_every_constrained_solver():
    random = np.random.default_rng(0)
    first = random.standard_normal((6, 50))
    shift = 0.5 * random.standard_normal(50)
    vectors = np.concatenate([first, first + shift])
    category = Category(np.arange(6), np.arange(6, 12))
    for name, entry in SOLVERS.items():
        solution = solve(cosines(vectors), category, entry.load()(), Rules(entry.constrained))
        # Raw cosines around 0 decide 3CosMul by their signs.
        if entry.constrained and name != "3cosmul":
            assert solution.chosen[:, 0].sum() == solution.questions.sum() == 15


BOTH = Rules(both_directions=True)


def test_the_first_wins_only_against_equal_bits():
    # The scores of pair 0, with pair 1 as A : B, are .5 and .5, and those of pair 1 are .5 and .5 +
    # 1e-9: the argmax takes the answer of pair 0 and the other candidate of pair 1.
    table = np.zeros((6, 6))
    table[0, [1, 2]], table[3, [4, 5]] = 0.5, (0.5, 0.5 + 1e-9)
    category = Category(np.array([0, 3]), np.array([1, 4]), np.array([[1, 2], [4, 5]]))
    solver, rules = SOLVERS["3cosadd"].load()(), BOTH._replace(first_wins=True)
    solution = solve(table, category, solver, rules)
    assert solution.chosen.tolist() == [[1, 0.5, 0], [0, 0.5, 1]]
    assert solution.tied.tolist() == [1, 0]
    # In float32, or with the tolerance, both pairs tie.
    assert solve(table.astype(np.float32), category, solver, rules).tied.tolist() == [1, 1]
    assert solve(table, category, solver, BOTH).chosen.tolist() == [[0.5] * 3] * 2
    # The same holds if all sentences are candidates; 2 and 5 are in no pair.
    table[0, [2, 5]], table[3, [5, 2]] = table[0, [5, 2]], table[3, [2, 5]]
    category = Category(*category[:2])
    solution = solve(table, category, solver, rules)
    assert solution.chosen.tolist() == [[1, 0.5, 0], [0, 0.5, 0]]
    assert solution.tied.tolist() == [1, 0]


def test_unconstrained_solvers_may_choose_c():
    # B is orthogonal to all, and C is nearest to itself.
    table = np.eye(4, dtype=np.float32)
    category, solver = Category(np.array([0, 1]), np.array([2, 3])), SOLVERS["only_c"].load()()
    for is_constrained, chosen in ((False, [0, 0, 1]), (True, [1, 1, 0])):
        solution = solve(table, category, solver, BOTH._replace(constrained=is_constrained))
        assert solution.chosen.tolist() == [chosen] * 2


@given(st.integers(0, 1000))
def test_equal_vectors_have_equal_cosines(seed):
    random = np.random.default_rng(seed)
    vectors = random.standard_normal((random.integers(1, 9), 300))
    numbers = random.integers(len(vectors), size=40)
    table = cosines(vectors[numbers], exact=True)
    for places in (numbers == number for number in numbers):
        assert (table[places] == table[places.argmax()]).all()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scores_have_the_precision_of_the_cosines(name, dtype):
    table = cosines(np.array([[5, 0], [4, 1], [3, 4]]), exact=dtype is np.float64)
    solver = SOLVERS[name].load()()
    to_pair, to_c = solver.to_pair(table), solver.to_c(table)
    offset = solver.offset(to_pair[0], to_pair[1])
    assert table.dtype == solver.scores(offset, offset[2], to_c[2]).dtype == dtype


@pytest.mark.parametrize(
    ("epsilon", "cosines_abc", "expected"),
    [
        # A plain candidate, one that is as good as orthogonal to A, and one where the denominator
        # would be zero.
        (1e-5, (0.5, 0.8, 0.6), 0.48 / 0.50001),
        (1e-5, (0.5, -0.8, -0.5), 0.4 / 0.50001),
        (1e-5, (0.0, 0.1, 0.2), 2000),
        (1e-5, (-1e-5, 0.1, 0.2), 2000),
        (0.001, (0.1, 0.5, 0.4), 0.2 / 0.101),
    ],
)
def test_3cosmul_of_raw_cosines_by_hand(epsilon, cosines_abc, expected):
    solver = SOLVERS["3cosmul"].load()(epsilon)
    a, b, c = np.float32(cosines_abc)
    score = solver.scores(solver.offset(a, b), None, solver.to_c(c))
    assert score == pytest.approx(expected, rel=1e-4)


def test_shifted_3cosmul_shifts_cosines():
    vectors = np.array([[1, 0], [0, 1], [-1, 0]], dtype=np.float32)
    solver = SOLVERS["3cosmul_shifted"].load()()
    shifted = solver.to_pair(cosines(vectors))
    assert shifted[0].tolist() == [1, 0.5, 0]
    score = solver.scores(solver.offset(shifted[0, 1], shifted[1, 1]), None, shifted[2, 1])
    assert float(score) == pytest.approx(1 / 0.501 * 0.5)  # cos' D,B over cos' D,A, times cos' D,C


@given(st.integers(0, 100))
def test_baselines_do_not_depend_on_what_they_ignore(seed):
    # Without A, B and C, the nearest of C, and of the middle between B and C.
    vectors, _ = shared(seed, 6, 5)
    table, a, b, c = cosines(vectors, exact=True), 0, 1, 2
    candidates = unit(vectors)
    for name, target in (("only_c", vectors[c]), ("ignore_a", unit(vectors)[[b, c]].sum(axis=0))):
        solver = SOLVERS[name].load()()
        scores = solver.scores(solver.offset(table[a], table[b]), None, solver.to_c(table)[c])
        assert (scores[3:].argmax()) == (candidates @ target)[3:].argmax()


def test_cosines_of_zero_vectors_are_zero():
    assert cosines(np.zeros((2, 3))).tolist() == [[0, 0], [0, 0]]
