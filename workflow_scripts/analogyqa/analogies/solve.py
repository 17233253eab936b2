"""All analogies between the sentence pairs of a category, solved in blocks.

Each unordered couple of n pairs is one analogy, n (n - 1) / 2 of them as in the paper (Table 3).
Which of the two is asked for is not said. Here couples go around a circle: a pair is C : D for the
(n - 1) / 2 pairs before it, half a couple more or less where n is even. So each is asked for as
often as every other, and the order of a file matters little.

Candidates that tie for the best share the analogy: with k of them it counts 1/k for each. So no
score depends on the order of a file; the evaluation of Zhu and de Melo (2020) takes the first.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from analogyqa.analogies.solvers import Solver
from analogyqa.vectors.unit import unit

BLOCK = 1 << 16  # scores at a time: they fit into the cache of a processor's core
# Candidates whose scores differ by less are tied: an encoder without word order, for one, gives a
# sentence and the same words in another order one vector, but for the last bits.
TIE = np.float32(1e-6)


class Category(NamedTuple):
    """The pairs of a category as numbers of sentences.

    `first` and `second` are [n]. `candidates` are [n, k], the answer of each pair before its
    distractors, or None where the candidates are all sentences.
    """

    first: np.ndarray
    second: np.ndarray
    candidates: np.ndarray | None = None


class Solved(NamedTuple):
    """How often each of n pairs was asked for, int [n], and what was chosen.

    `chosen` [n, k] says how often each candidate of a pair was chosen, the answer being the first;
    k is 2 where candidates are shared: the answer, and any other. What ties for the best shares it.
    `tied` [n] says how often there were such ties.
    """

    asked: np.ndarray
    chosen: np.ndarray
    tied: np.ndarray


def asked_after(pair: int, pairs: int) -> range:
    """Return the pairs asked for with this one as A : B; from `pairs` on they start anew."""
    half, is_odd = divmod(pairs, 2)
    count = half if is_odd or pair < half else half - 1
    return range(pair + 1, pair + 1 + count)


def solve(
    table: np.ndarray, category: Category, solver: Solver, constrained: bool = True
) -> Solved:
    """Solve all analogies of a category.

    Args:
        table: the cosines of its sentences with each other, as `cosines` returns them.
        category: which of them are pairs and candidates.
        solver: a formula.
        constrained: whether A, B and C cannot be the answer.
    """
    solve_from = _own_candidates if category.candidates is not None else _shared_candidates
    width = 2 if category.candidates is None else category.candidates.shape[1]
    pairs = len(category.first)
    around = pairs + pairs // 2
    asked = np.zeros(around, dtype=np.int64)
    chosen, tied = np.zeros((around, width)), np.zeros(around, dtype=np.int64)
    for start, times, part, ties in solve_from(table, category, solver, constrained):
        block = slice(start, start + len(times))
        asked[block] += times
        chosen[block] += part
        tied[block] += ties
    return Solved(*(_folded(each, pairs) for each in (asked, chosen, tied)))


def cosines(vectors: np.ndarray) -> np.ndarray:
    """Return the cosines of vectors [m, dim] with each other, float32 [m, m]; 0 of zeros."""
    rows = unit(np.asarray(vectors, dtype=np.float32))
    table = rows @ rows.T
    return np.clip(table, -1, 1, out=table)


# The first pair asked for, how often it and those behind it were, what was chosen, what was tied.
_Part = tuple[int, np.ndarray, np.ndarray, np.ndarray]


def _shared_candidates(
    table: np.ndarray, category: Category, solver: Solver, constrained: bool
) -> Iterator[_Part]:
    first, second = category.first, category.second
    pairs, width = len(first), len(table)
    order = np.arange(pairs + pairs // 2) % pairs
    c, answers = first[order], second[order]
    to_pair, to_c = solver.to_pair(table), solver.to_c(table)
    to_c = to_c[c]
    rows = max(1, BLOCK // width)
    room, offsets = np.empty((2, rows, width), dtype=np.float32)
    right = np.zeros(len(order))
    asked, tied = np.zeros((2, len(order)), dtype=np.int64)
    places_of_c = np.arange(len(order)) * width + c
    for pair in range(pairs):
        a, b = first[pair], second[pair]
        offset = solver.offset(to_pair[a], to_pair[b])
        of_c = offset[c, None]
        if constrained:
            offset[a] = offset[b] = -np.inf
        # Written out for each row: arrays of one shape are added at twice the speed.
        offsets[:] = offset
        asked_for = asked_after(pair, pairs)
        asked[asked_for.start : asked_for.stop] += 1
        for start in range(asked_for.start, asked_for.stop, rows):
            stop = min(start + rows, asked_for.stop)
            count, block = stop - start, slice(start, stop)
            scores = solver.scores(offsets[:count], of_c[block], to_c[block], room[:count])
            if constrained:
                room.reshape(-1)[places_of_c[block] - start * width] = -np.inf
            won, is_tied = _share(scores, answers[block])
            right[block] += won
            tied[block] += is_tied
    yield 0, asked, np.stack([right, asked - right], axis=1), tied


def _share(scores: np.ndarray, answers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return which share of each analogy [n] its answer wins, and whether there is a tie [n].

    The scores are overwritten: to look for the largest twice is several times as fast as to compare
    all of them with it, and few rows have a tie.
    """
    rows = np.arange(len(scores))
    chosen = scores.argmax(axis=1)
    least = scores[rows, chosen] - TIE
    won = ((chosen == answers) & (least > -np.inf)).astype(float)
    scores[rows, chosen] = -np.inf
    tied = (scores[rows, scores.argmax(axis=1)] >= least) & (least > -np.inf)
    if tied.any():
        others = scores[tied] >= least[tied, None]
        won[tied] += others[np.arange(len(others)), answers[tied]]
        won[tied] /= 1 + others.sum(axis=1)
    return won, tied


def _own_candidates(
    table: np.ndarray, category: Category, solver: Solver, constrained: bool
) -> Iterator[_Part]:
    first, second = category.first, category.second
    pairs = len(first)
    order = np.arange(pairs + pairs // 2) % pairs
    c, candidates = first[order], category.candidates[order]
    to_pair, to_c = solver.to_pair(table), solver.to_c(table[c[:, None], candidates])
    for pair in range(pairs):
        a, b = first[pair], second[pair]
        offset = solver.offset(to_pair[a], to_pair[b])
        asked = asked_after(pair, pairs)
        block = slice(asked.start, asked.stop)
        own = candidates[block]
        scores = solver.scores(offset[own], offset[c[block], None], to_c[block])
        if constrained:
            given = (own == a) | (own == b) | (own == c[block, None])
            scores[given] = -np.inf
        best = scores >= scores.max(axis=1, keepdims=True, initial=-np.inf) - TIE
        count = best.sum(axis=1, keepdims=True)
        tied = (count[:, 0] > 1).astype(np.int64)
        yield asked.start, np.ones_like(tied), best / count, tied


def _folded(values: np.ndarray, pairs: int) -> np.ndarray:
    folded = values[:pairs].copy()
    folded[: len(values) - pairs] += values[pairs:]
    return folded
