"""Solve all analogies between the sentence pairs of a category, in blocks.

Two of n pairs form one analogy, A : B :: C : D. It is asked for one of them or for both, which
gives n (n - 1) / 2 or n (n - 1) questions. For one, we place the pairs on a circle, and each is
C : D for the half of the others that precede it. So all pairs are asked for equally often (plus or
minus one if n is even), and the order of a file matters little.

`Rules` has the choices in which the code of Zhu and de Melo (2020) and their text differ. In a
category without distractors, their code has 2n candidates, by their places A1, B1, A2, B2, ...: a
sentence of several pairs is several candidates, of which only that of D is right. The place of C is
left out, but those of A and B only for every other pair A : B, by an error in an index. They get
-100 instead of the part of the score that A and B give, which 3CosMul multiplies by cos(C, D).

Their code takes the argmax of the scores, so the first candidate wins only against scores that are
equal bit by bit. `first_wins` does the same and has no tolerance. It needs a table of float64,
because float32 makes different scores equal. Shared ties have a tolerance, `TIE`.

A solver splits its formula into an `offset`, which depends on A, B and D, and `scores`, which adds
the part with C. So it can be vectorised over both candidates and C, with the same bits as a loop
over single candidates.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from analogyqa.vectors import unit

BLOCK = 1 << 16  # scores at a time, so that they fit into a core's cache
# Shared ties: scores that differ by less are tied. For example, an encoder that ignores word order
# gives a sentence and its reordering the same vector, except for the last bits.
TIE = np.float32(1e-6)
LEFT_OUT = np.float32(-100)  # as coded
NEAREST = 1e-6  # least squared distance, because equal vectors must not divide by zero


class Solver:
    """A formula over arrays, which broadcast. Scores have the precision of the cosines."""

    def to_pair(self, cosines: np.ndarray) -> np.ndarray:
        """Transform the cosines of candidates and A or B for `offset`."""
        return cosines

    def to_c(self, cosines: np.ndarray) -> np.ndarray:
        """Transform the cosines of candidates and C for `scores`."""
        return self.to_pair(cosines)

    def offset(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Return the offset of candidates, from their results of `to_pair` with A and with B."""
        return b - a

    def scores(self, offset, c_offset, c, out=None) -> np.ndarray:
        """Return the scores of candidates, in the array `out` if there is one.

        Args:
            offset: the offsets of the candidates.
            c_offset: the offset that C has as a candidate.
            c: results of `to_c` for the candidates.
        """
        raise NotImplementedError


class ThreeCosAdd(Solver):
    """cos(D, B) - cos(D, A) + cos(D, C): eq. 1, which is eq. 3 of Levy and Goldberg (2014)."""

    def scores(self, offset, c_offset, c, out=None) -> np.ndarray:
        return np.add(offset, c, out=out)


class IgnoreA(ThreeCosAdd):
    """cos(D, B) + cos(D, C): what a solver finds without A, "Ignore-A" of Linzen (2016)."""

    def offset(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return b.copy()


class OnlyC(ThreeCosAdd):
    """cos(D, C): the nearest neighbour of C, "Only-B" of Linzen (2016), who names a : a* :: b : b*.

    What a constrained solver finds beyond this is due to A and B.
    """

    def offset(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.zeros_like(b)


class ThreeCosMul(Solver):
    """cos(D, B) cos(D, C) / (cos(D, A) + epsilon), as the code of Zhu and de Melo (2020) has it.

    The cosines may be negative, and a small cos(D, A) makes any score large.
    """

    def __init__(self, epsilon: float = 1e-5) -> None:
        self.epsilon = epsilon

    def offset(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        below = a + self.epsilon
        return b / np.where(below == 0, self.epsilon, below)

    def scores(self, offset, c_offset, c, out=None) -> np.ndarray:
        return np.multiply(offset, c, out=out)


class ShiftedThreeCosMul(ThreeCosMul):
    """3CosMul with cosines mapped to (x + 1) / 2: Levy and Goldberg (2014), eq. 4, footnote.

    They set epsilon to .001.
    """

    def __init__(self) -> None:
        super().__init__(0.001)

    def to_pair(self, cosines: np.ndarray) -> np.ndarray:
        return (cosines + 1) / 2


class Parallelogram(Solver):
    """The cosine of B - A and D - C for unit vectors: eq. 6 of Diallo et al. (2019).

    We leave out the length of B - A, which is the same for all candidates.
    """

    def to_c(self, cosines: np.ndarray) -> np.ndarray:
        """Return the inverse of the length of D - C."""
        squared = 2 - 2 * cosines
        return 1 / np.sqrt(np.maximum(squared, NEAREST))

    def scores(self, offset, c_offset, c, out=None) -> np.ndarray:
        return np.multiply(np.subtract(offset, c_offset, out=out), c, out=out)


class Category(NamedTuple):
    """The pairs of a category, as sentence numbers.

    `first` and `second` are [n]. `candidates` is [n, k], the answer of each pair followed by its
    distractors, or None if all sentences are candidates.
    """

    first: np.ndarray
    second: np.ndarray
    candidates: np.ndarray | None = None


class Rules(NamedTuple):
    """How questions are asked and answered.

    Without `as_coded`, the candidates are distinct sentences, of which A, B and C are left out if
    `constrained`. Without `first_wins`, k candidates that are tied, up to `TIE`, get 1/k of the
    question each, so that their order does not matter.
    """

    constrained: bool = True  # A, B and C are no answers
    as_coded: bool = False  # the candidates are those of the authors' code
    first_wins: bool = False  # the first of equal scores wins
    both_directions: bool = False  # each pair of an analogy is asked for


class Solved(NamedTuple):
    """The results for each of n pairs.

    Attributes:
        questions: how many questions ask for the pair, int [n].
        chosen: how often the answer was chosen, how often it would be with shared ties, and how
            often each distractor was chosen, [n, k + 1]. If all sentences are candidates, the third
            and last column is for C itself.
        tied: how often there was a tie for the best, int [n].
        source_questions: how many questions have the pair as A : B, int [n].
        source_chosen: how often the candidates of the other pair were then chosen, with the
            columns of `chosen`.
    """

    questions: np.ndarray
    chosen: np.ndarray
    tied: np.ndarray
    source_questions: np.ndarray
    source_chosen: np.ndarray


def target_pairs(pair: int, pairs: int, both_directions: bool = False) -> range:
    """Return the pairs that are C : D when `pair` is A : B, modulo `pairs`."""
    half, is_odd = divmod(pairs, 2)
    count = half if is_odd or pair < half else half - 1
    return range(pair + 1, pair + (pairs if both_directions else 1 + count))


def solve(table: np.ndarray, category: Category, solver: Solver, rules: Rules) -> Solved:
    """Solve all analogies of a category.

    `table` has the cosines of all sentences, as `cosines` returns them; float64 if the first wins.
    """
    solve_parts = _solve_shared if category.candidates is None else _solve_own
    width = 3 if category.candidates is None else category.candidates.shape[1] + 1
    pairs = len(category.first)
    questions, tied = np.zeros((2, 2 * pairs), dtype=np.int64)
    chosen, source_chosen = np.zeros((2 * pairs, width)), np.zeros((pairs, width))
    source_questions = np.zeros(pairs, dtype=np.int64)
    for pair, (targets, shares, is_tied) in enumerate(solve_parts(table, category, solver, rules)):
        block = slice(targets.start, targets.stop)
        questions[block] += 1
        chosen[block] += shares
        tied[block] += is_tied
        source_questions[pair] = len(targets)
        source_chosen[pair] = shares.sum(axis=0)
    # The rows beyond n continue the first rows on the circle.
    counts = [values[:pairs] + values[pairs:] for values in (questions, chosen, tied)]
    return Solved(counts[0], counts[1], counts[2], source_questions, source_chosen)


def cosines(vectors: np.ndarray, exact: bool = False) -> np.ndarray:
    """Return the cosines between all vectors [m, dim]: [m, m], 0 for zero vectors.

    They are float32; if `exact`, they are float64, and equal for equal vectors, bit by bit.
    """
    rows = unit(np.asarray(vectors, dtype=np.float64 if exact else np.float32))
    if exact:  # a product of matrices may round equal rows differently
        rows, numbers = np.unique(rows, axis=0, return_inverse=True)
    table = rows @ rows.T
    np.clip(table, -1, 1, out=table)
    return table[np.ix_(numbers, numbers)] if exact else table


# For each pair as A : B: the pairs that are C : D, the shares in which their candidates are chosen,
# with the columns of `Solved.chosen`, and whether there was a tie [targets].
_Part = tuple[range, np.ndarray, np.ndarray]


def _solve_shared(
    table: np.ndarray, category: Category, solver: Solver, rules: Rules
) -> Iterator[_Part]:
    first, second = category.first, category.second
    pairs = len(first)
    if rules.as_coded:
        places = np.stack([first, second], axis=1).ravel()
        table = table[np.ix_(places, places)]
        first, second = np.arange(2 * pairs).reshape(pairs, 2).T
    width = len(table)
    order = np.arange(2 * pairs) % pairs
    c, answers = first[order], second[order]
    to_pair, to_c = solver.to_pair(table), solver.to_c(table)[c]
    rows = max(1, BLOCK // width)
    buffer, offsets = np.empty((2, rows, width), dtype=table.dtype)
    flat_c_indices = np.arange(len(order)) * width + c
    for pair in range(pairs):
        a, b = first[pair], second[pair]
        offset = solver.offset(to_pair[a], to_pair[b])
        c_offset = offset[c, None]
        if rules.constrained and rules.as_coded and pair % 2 == 0:
            offset[[a, b]] = LEFT_OUT
        # Arrays of the same shape add twice as fast as with broadcasting.
        offsets[:] = offset
        targets = target_pairs(pair, pairs, rules.both_directions)
        shares, tied = np.empty((len(targets), 3)), np.empty(len(targets), dtype=bool)
        for start in range(targets.start, targets.stop, rows):
            stop = min(start + rows, targets.stop)
            count, block = stop - start, slice(start, stop)
            scores = solver.scores(offsets[:count], c_offset[block], to_c[block], buffer[:count])
            if rules.constrained:
                if not rules.as_coded:
                    scores[:, a] = scores[:, b] = -np.inf
                buffer.reshape(-1)[flat_c_indices[block] - start * width] = -np.inf
            done = slice(start - targets.start, stop - targets.start)
            choices = answers[block], c[block]
            shares[done], tied[done] = _choose(scores, *choices, rules.first_wins)
        yield targets, shares, tied


def _choose(
    scores: np.ndarray, answers: np.ndarray, c: np.ndarray, first_wins: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return the shares of the answers and of C [n, 3], and whether there is a tie [n].

    The columns of shares are those of `Solved.chosen`. Overwrites the scores. Two searches for the
    maximum are several times faster than comparing all scores with it, and few rows have a tie.
    """
    rows = np.arange(len(scores))
    best = scores.argmax(axis=1)  # the first of equal scores
    highest = scores[rows, best]
    has_candidate = highest > -np.inf
    is_chosen = np.stack([best == answers, best == answers, best == c], axis=1)
    shares = (is_chosen & has_candidate[:, None]).astype(float)
    scores[rows, best] = -np.inf
    second = scores[rows, scores.argmax(axis=1)]
    is_close = (second >= highest - TIE) & has_candidate
    if is_close.any():
        is_best = scores[is_close] >= highest[is_close, None] - TIE
        rows = np.arange(len(is_best))
        is_best[rows, best[is_close]] = True
        shared = is_best / is_best.sum(axis=1, keepdims=True)
        shares[is_close, 1] = shared[rows, answers[is_close]]
        if not first_wins:
            shares[is_close, 0] = shares[is_close, 1]
            shares[is_close, 2] = shared[rows, c[is_close]]
    return shares, is_close & (second == highest) if first_wins else is_close


def _solve_own(
    table: np.ndarray, category: Category, solver: Solver, rules: Rules
) -> Iterator[_Part]:
    first, second = category.first, category.second
    pairs = len(first)
    order = np.arange(2 * pairs) % pairs
    c, candidates = first[order], np.asarray(category.candidates)[order]
    to_pair, to_c = solver.to_pair(table), solver.to_c(table[c[:, None], candidates])
    for pair in range(pairs):
        a, b = first[pair], second[pair]
        offset = solver.offset(to_pair[a], to_pair[b])
        targets = target_pairs(pair, pairs, rules.both_directions)
        block = slice(targets.start, targets.stop)
        choices = candidates[block]
        scores = solver.scores(offset[choices], offset[c[block], None], to_c[block])
        if rules.constrained and not rules.as_coded:
            is_excluded = (choices == a) | (choices == b) | (choices == c[block, None])
            scores[is_excluded] = -np.inf
        best = scores.max(axis=1, keepdims=True, initial=-np.inf)
        is_close = scores >= best - TIE
        is_best = scores == best if rules.first_wins else is_close
        shared = is_close / is_close.sum(axis=1, keepdims=True)
        is_first = np.arange(choices.shape[1]) == is_best.argmax(axis=1)[:, None]
        shares = is_first if rules.first_wins else shared
        columns = np.column_stack([shares[:, 0], shared[:, 0], shares[:, 1:]])
        yield targets, columns, is_best.sum(axis=1) > 1
