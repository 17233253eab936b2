"""How well verdicts are calibrated: one seed plays the paper, and other seeds judge it."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from analogyqa.cells import Cell
from analogyqa.evaluation.spread import interval_of_runs
from analogyqa.evaluation.summary import DECIMALS, KEY, Results, shared_seeds, to_frame
from analogyqa.settings.coordinates import SCORE
from analogyqa.settings.overrides import from_text

FEWEST_SEEDS = 5  # cells with fewer are left out
BEST_OF = (3, 5, 10)  # the numbers of runs of which a paper may report the best
SIMULATED = 20_000
COVERAGE = {
    **dict.fromkeys(["n_seeds", "cells"], "Int64"),
    **dict.fromkeys(["coverage", "nominal", *(f"best_of_{runs}" for runs in BEST_OF)], "float64"),
}


def measure_coverage(numbers: pd.DataFrame, results: Results, confidence: float) -> pd.DataFrame:
    """Return how often prediction intervals contain the value of another seed: columns COVERAGE.

    There is a row for each number of judging seeds, `n_seeds`, over the `cells` that have one seed
    more. `coverage` is the mean of `covered_share` over these, `nominal` is the confidence, and
    `best_of_5` is the `power_to_notice` the best of five runs that is reported as one run.

    Args:
        numbers: As `published.compare_numbers` returns them.
        results: Our results.
        confidence: The level of the intervals.
    """
    cells = [*_seeds_of_judged(numbers, results)]
    rows = []
    for judges in range(2, max(map(len, cells), default=0)):
        shares = [
            covered_share(seeds, judges, confidence) for seeds in cells if len(seeds) > judges
        ]
        row: dict = {"n_seeds": judges, "cells": len(shares), "nominal": confidence}
        row["coverage"] = round(float(np.mean(shares)), DECIMALS)
        row |= {f"best_of_{runs}": power_to_notice(runs, judges, confidence) for runs in BEST_OF}
        rows.append(row)
    return to_frame(rows, COVERAGE)


def _seeds_of_judged(numbers: pd.DataFrame, results: Results) -> Iterator[np.ndarray]:
    """Yield the value by seed of each score that is compared with a published one.

    Scores with few seeds are left out, those whose seeds agree or share models, and those of
    training runs that did not all learn.
    """
    is_judged = numbers["kind"].eq(SCORE) & numbers["published"].notna() & numbers["mean"].notna()
    has_failed = numbers["n_learned"].lt(numbers["n_trained"]).fillna(False)
    judged = numbers.loc[is_judged & ~has_failed, KEY].drop_duplicates()
    for system, dataset, subset, overrides, measure in judged.itertuples(index=False):
        cell = Cell(system, dataset, subset, from_text(overrides))
        values = results.values(cell, measure)
        if values is not None and len(values) >= FEWEST_SEEDS and shared_seeds(values) == 1:
            seeds = values.mean(axis=1).to_numpy()
            if np.ptp(seeds) > 0:
                yield seeds


def covered_share(values: np.ndarray, judges: int, confidence: float) -> float:
    """Return the share of seeds in the prediction interval of the next `judges` ones, in a circle.

    `values` are those of a cell by seed, float array [seeds], more than `judges`.
    """
    inside = 0
    for shift in range(len(values)):
        value, *others = np.roll(values, -shift)[: judges + 1]
        mean, sd = float(np.mean(others)), float(np.std(others, ddof=1))
        low, high = interval_of_runs(mean, sd, judges, confidence, 1)
        inside += low <= value <= high
    return inside / len(values)


def power_to_notice(runs: int, seeds: int, confidence: float) -> float:
    """Return the probability that the best of several runs is above the prediction interval.

    This is a simulation with a fixed random seed. It depends only on the number of runs and on that
    of our seeds, since all are normal with one mean and one standard deviation.
    """
    generator = np.random.default_rng(0)
    ours = generator.standard_normal((SIMULATED, seeds))
    best = generator.standard_normal((SIMULATED, runs)).max(axis=1)
    _, reach = interval_of_runs(0, 1, seeds, confidence, 1)
    high = ours.mean(axis=1) + reach * ours.std(axis=1, ddof=1)
    return round(float(np.mean(best > high)), DECIMALS)
