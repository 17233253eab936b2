"""Analogies solved in blocks, a second and core, against a loop that solves one at a time."""

import time

import numpy as np
from measure import record
from threadpoolctl import threadpool_limits

from analogyqa.analogies.solve import Category, Rules, asked_after, cosines, solve
from analogyqa.analogies.specs import SOLVERS

PAIRS, CANDIDATES, DIM, ROUNDS = 500, 1000, 300, 5
OF_LOOP = 5  # pairs whose analogies the loop solves
TITLES = {"3cosadd": "3CosAdd", "3cosadd_u": "3CosAdd-U", "3cosmul": "3CosMul"}


def drawn() -> tuple[np.ndarray, Category]:
    random = np.random.default_rng(0)
    numbers = random.permutation(CANDIDATES).reshape(2, PAIRS)
    return cosines(random.standard_normal((CANDIDATES, DIM))), Category(*numbers)


def one_by_one(table: np.ndarray, category: Category, name: str) -> list[int]:
    """Solve the analogies of some pairs, each for itself; return what is chosen."""
    solver, constrained, found = SOLVERS[name].load()(), SOLVERS[name].constrained, []
    for pair in range(OF_LOOP):
        a, b = category.first[pair], category.second[pair]
        for other in asked_after(pair, PAIRS):
            c = category.first[other % PAIRS]
            offset = solver.offset(solver.to_pair(table[a]), solver.to_pair(table[b]))
            scores = solver.scores(offset, offset[c], solver.to_c(table[c]))
            if constrained:
                scores[[a, b, c]] = -np.inf
            found.append(int(scores.argmax()))
    return found


def main() -> None:
    table, category = drawn()
    count = PAIRS * (PAIRS - 1) // 2
    for name, title in TITLES.items():
        solver, seconds = SOLVERS[name].load()(), []
        rules = Rules(SOLVERS[name].constrained)
        with threadpool_limits(1):
            # CPU seconds of the best round: other work of the machine is not counted.
            for _ in range(ROUNDS):
                started = time.process_time()
                solve(table, category, solver, rules)
                seconds.append(time.process_time() - started)
            started = time.process_time()
            solved = len(one_by_one(table, category, name))
            loop = time.process_time() - started
        ours, other = count / min(seconds) / 1e6, solved / loop / 1e6
        data = f"{title}, {count:,} analogies of {CANDIDATES:,} sentences"
        record("solving", data, "million/s", ours, other, packages=["numpy"])


if __name__ == "__main__":
    main()
