"""Solve all analogies between the sentence pairs of a category, in blocks.

Two of n pairs form one analogy, so there are n (n - 1) / 2 as in the paper (Table 3). The paper
does not say which of the two is C : D. We place the pairs on a circle, and each is C : D for the
half of the others that precede it. So all pairs are asked for equally often (plus or minus one if n
is even), and the order of a file matters little.

If k candidates tie for the best score, each gets 1/k of the analogy, so that scores do not depend
on the order of candidates. The evaluation of Zhu and de Melo (2020) takes the first.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from analogyqa.analogies.solvers import Solver
from analogyqa.vectors.unit import unit

BLOCK = 1 << 16  # scores at a time, so that they fit into a core's cache
# Scores that differ by less are tied. For example, an encoder that ignores word order gives a
# sentence and its reordering the same vector, except for the last bits.
TIE = np.float32(1e-6)


class Category(NamedTuple):
    """The pairs of a category, as sentence numbers.

    `first` and `second` are [n]. `candidates` is [n, k], the answer of each pair followed by its
    distractors, or None if all sentences are candidates.
    """

    first: np.ndarray
    second: np.ndarray
    candidates: np.ndarray | None = None


class Solved(NamedTuple):
    """The results for each of n pairs.

    Attributes:
        asked: how often a pair was asked for, int [n].
        chosen: how often each of its candidates was chosen, [n, k], with ties shared. The first is
            the answer. If all sentences are candidates, the second column counts all others.
        tied: how often there was a tie for the best, int [n].
    """

    asked: np.ndarray
    chosen: np.ndarray
    tied: np.ndarray


def asked_after(pair: int, pairs: int) -> range:
    """Return the pairs that are C : D when `pair` is A : B, modulo `pairs`."""
    half, is_odd = divmod(pairs, 2)
    count = half if is_odd or pair < half else half - 1
    return range(pair + 1, pair + 1 + count)


def solve(
    table: np.ndarray, category: Category, solver: Solver, constrained: bool = True
) -> Solved:
    """Solve all analogies of a category.

    Args:
        table: cosines of all sentences, as `cosines` returns them.
        category: the pairs and candidates.
        solver: the formula for scores.
        constrained: whether to exclude A, B and C as answers.
    """
    solve_parts = _solve_shared if category.candidates is None else _solve_own
    width = 2 if category.candidates is None else category.candidates.shape[1]
    pairs = len(category.first)
    around = pairs + pairs // 2
    asked = np.zeros(around, dtype=np.int64)
    chosen, tied = np.zeros((around, width)), np.zeros(around, dtype=np.int64)
    for start, *counts in solve_parts(table, category, solver, constrained):
        block = slice(start, start + len(counts[0]))
        for total, count in zip((asked, chosen, tied), counts, strict=True):
            total[block] += count
    return Solved(*(_wrap(values, pairs) for values in (asked, chosen, tied)))


def cosines(vectors: np.ndarray) -> np.ndarray:
    """Return the cosines between all vectors [m, dim]: float32 [m, m], 0 for zero vectors."""
    rows = unit(np.asarray(vectors, dtype=np.float32))
    table = rows @ rows.T
    return np.clip(table, -1, 1, out=table)


# The first pair of a block, and the block's rows of `asked`, `chosen` and `tied`.
_Part = tuple[int, np.ndarray, np.ndarray, np.ndarray]


def _solve_shared(
    table: np.ndarray, category: Category, solver: Solver, constrained: bool
) -> Iterator[_Part]:
    first, second = category.first, category.second
    pairs, width = len(first), len(table)
    order = np.arange(pairs + pairs // 2) % pairs
    c, answers = first[order], second[order]
    to_pair, to_c = solver.to_pair(table), solver.to_c(table)
    to_c = to_c[c]
    rows = max(1, BLOCK // width)
    buffer, offsets = np.empty((2, rows, width), dtype=np.float32)
    correct = np.zeros(len(order))
    asked, tied = np.zeros((2, len(order)), dtype=np.int64)
    flat_index_of_c = np.arange(len(order)) * width + c
    for pair in range(pairs):
        a, b = first[pair], second[pair]
        offset = solver.offset(to_pair[a], to_pair[b])
        offset_of_c = offset[c, None]
        # Arrays of the same shape add twice as fast as with broadcasting.
        offsets[:] = offset
        targets = asked_after(pair, pairs)
        asked[targets.start : targets.stop] += 1
        for start in range(targets.start, targets.stop, rows):
            stop = min(start + rows, targets.stop)
            count, block = stop - start, slice(start, stop)
            scores = solver.scores(offsets[:count], offset_of_c[block], to_c[block], buffer[:count])
            if constrained:
                scores[:, a] = scores[:, b] = -np.inf
                buffer.reshape(-1)[flat_index_of_c[block] - start * width] = -np.inf
            won, is_tied = _answer_shares(scores, answers[block])
            correct[block] += won
            tied[block] += is_tied
    yield 0, asked, np.stack([correct, asked - correct], axis=1), tied


def _answer_shares(scores: np.ndarray, answers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the share of each analogy that its answer wins, and whether there is a tie: [n].

    Overwrites the scores. Two searches for the maximum are several times faster than comparing all
    scores with it, and few rows have a tie.
    """
    rows = np.arange(len(scores))
    best = scores.argmax(axis=1)
    threshold = scores[rows, best] - TIE
    won = ((best == answers) & (threshold > -np.inf)).astype(float)
    scores[rows, best] = -np.inf
    is_tied = (scores[rows, scores.argmax(axis=1)] >= threshold) & (threshold > -np.inf)
    if is_tied.any():
        rivals = scores[is_tied] >= threshold[is_tied, None]
        won[is_tied] += rivals[np.arange(len(rivals)), answers[is_tied]]
        won[is_tied] /= 1 + rivals.sum(axis=1)
    return won, is_tied


def _solve_own(
    table: np.ndarray, category: Category, solver: Solver, constrained: bool
) -> Iterator[_Part]:
    first, second = category.first, category.second
    pairs = len(first)
    order = np.arange(pairs + pairs // 2) % pairs
    c, candidates = first[order], np.asarray(category.candidates)[order]
    to_pair, to_c = solver.to_pair(table), solver.to_c(table[c[:, None], candidates])
    for pair in range(pairs):
        a, b = first[pair], second[pair]
        offset = solver.offset(to_pair[a], to_pair[b])
        targets = asked_after(pair, pairs)
        block = slice(targets.start, targets.stop)
        choices = candidates[block]
        scores = solver.scores(offset[choices], offset[c[block], None], to_c[block])
        if constrained:
            is_excluded = (choices == a) | (choices == b) | (choices == c[block, None])
            scores[is_excluded] = -np.inf
        is_best = scores >= scores.max(axis=1, keepdims=True, initial=-np.inf) - TIE
        count = is_best.sum(axis=1, keepdims=True)
        tied = (count[:, 0] > 1).astype(np.int64)
        yield targets.start, np.ones_like(tied), is_best / count, tied


def _wrap(values: np.ndarray, pairs: int) -> np.ndarray:
    """Add the rows beyond `pairs` to the first rows, which they continue on the circle."""
    wrapped = values[:pairs].copy()
    wrapped[: len(values) - pairs] += values[pairs:]
    return wrapped
