"""The coverage of prediction intervals, and the power to notice the best of several runs."""

import numpy as np
import pandas as pd
import pytest

from analogyqa.cells import Cell
from analogyqa.evaluation.coverage import COVERAGE, measure_coverage, power_to_notice
from analogyqa.evaluation.summary import Results

CELLS = [f"subset{number}" for number in range(300)]


def judged(seeds: dict[str, np.ndarray]) -> tuple[pd.DataFrame, Results]:
    """Return a published number for each subset, with our value by seed."""
    rows = {"system": "a", "dataset": "b", "overrides": "default", "measure": "mrr"}
    rows |= {"kind": "score", "published": 0.5, "mean": 0.5, "n_trained": 8}
    learned = [7 if name == "mixed" else 8 for name in seeds]
    numbers = pd.DataFrame({"subset": list(seeds), "n_learned": learned, **rows})
    values = {Cell("a", "b", name): pd.DataFrame({"q": seeds[name]}) for name in seeds}
    return numbers, Results(values=lambda cell, measure: values.get(cell))


def test_intervals_of_normal_values_have_their_nominal_coverage():
    generator = np.random.default_rng(0)
    seeds = {name: generator.normal(0.5, 0.02, 8) for name in CELLS}
    seeds |= {"few": np.array([0.1, 0.2]), "equal": np.full(8, 0.3), "mixed": np.arange(8) / 8}
    numbers, results = judged(seeds)
    frame = measure_coverage(pd.concat([numbers] * 2), results, 0.95)
    assert frame["n_seeds"].tolist() == [2, 3, 4, 5, 6, 7]
    assert (frame["cells"] == len(CELLS)).all() and (frame["nominal"] == 0.95).all()
    assert frame["coverage"].between(0.93, 0.97).all()


def test_without_cells_the_table_is_empty():
    frame = measure_coverage(*judged({"few": np.array([0.1, 0.2])}), 0.95)
    assert frame.empty and list(frame) == list(COVERAGE)


def test_the_best_of_more_runs_is_noticed_more_often():
    powers = [power_to_notice(runs, 10, 0.95) for runs in (1, 3, 5, 10)]
    assert powers == sorted(powers)
    assert powers[0] == pytest.approx(0.025, abs=0.004)  # one run is above by chance
