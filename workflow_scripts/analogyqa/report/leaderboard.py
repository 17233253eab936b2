"""All systems on the questions of a subset, and how sure their order is."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from analogyqa.cells import Cell
from analogyqa.errors import AnalogyQAError
from analogyqa.evaluation.comparing import compare_with_best, p_value_of, tied_with_best
from analogyqa.evaluation.spread import bootstrap_means, shares_of_first
from analogyqa.evaluation.summary import (
    DECIMALS,
    find_records,
    read_record,
    scores_on_test,
    shared_seeds,
)
from analogyqa.measures import MEASURES, strata_of
from analogyqa.runs.record import read_metrics
from analogyqa.settings.base import nearest_hint
from analogyqa.settings.overrides import HYPERPARAMETERS
from analogyqa.settings.run import Config


class Place(NamedTuple):
    """A system on a leaderboard.

    Attributes:
        system: Its name, with the name of its hyperparameters if they were tuned.
        mean: The mean over questions and seeds.
        rank_low, rank_high: The interval of its rank, where 1 is the best.
        first: The share of draws in which it is the first; equal systems share a draw.
        in_top_group: Whether it is the best, or not significantly different from the best.
        p_value: The p-value of the two-sided paired test against the best; 1 for the best itself.
        detectable: The smallest difference from the best that the data could have shown.
    """

    system: str
    mean: float
    rank_low: int
    rank_high: int
    first: float
    in_top_group: bool
    p_value: float
    detectable: float


def build_leaderboard(
    results: str | Path, dataset: str, subset: str, measure: str, config: Config
) -> list[Place]:
    """Return the systems that have run on a subset of a data set, the best first.

    Ranks come from a bootstrap over questions and seeds, in which all systems have the same
    questions. The test against the best is paired; the top group has Holm's correction.

    Args:
        results: The output folder.
        dataset, subset, measure: What to compare.
        config: The configuration of the folder.

    Raises AnalogyQAError when no system has run there.
    """
    values = _values(Path(results), dataset, subset, measure)
    if not values:
        if reason := config.left_out.get(dataset):
            raise AnalogyQAError(f"{results}: {dataset} was left out: {reason}")
        runs = [path.split("/") for path in find_records(results)]
        asked = {
            dataset: sorted({parts[1] for parts in runs}),
            subset: sorted({parts[2] for parts in runs}),
            measure: MEASURES,
        }
        hints = [nearest_hint(name, known) for name, known in asked.items() if name not in known]
        raise AnalogyQAError(
            f"{results}: no run without overrides on {subset} of {dataset} has the measure "
            + measure
            + "".join(hints[:1])
        )
    samples, tail = config.bootstrap.samples, (1 - config.bootstrap.confidence) / 2
    draws = np.stack(
        [
            bootstrap_means(
                scores.to_numpy(), samples, stream, strata_of(scores), shared_seeds(scores)
            )
            for stream, scores in enumerate(values.values())
        ]
    )
    ranks = 1 + (draws[None] > draws[:, None] + 1e-12).sum(axis=1)  # better systems, in each draw
    low, high = np.quantile(ranks, [tail, 1 - tail], axis=1, method="nearest")
    first = shares_of_first(draws)
    best, compared = compare_with_best(values, config)
    top = {best, *tied_with_best(compared, config)}
    places = [
        Place(
            name,
            round(float(scores.to_numpy().mean()), DECIMALS),
            int(low[number]),
            int(high[number]),
            round(float(first[number]), DECIMALS),
            name in top,
            p_value_of(compared[name]) if name in compared else 1.0,
            compared[name]["detectable"] if name in compared else 0.0,
        )
        for number, (name, scores) in enumerate(values.items())
    ]
    return sorted(places, key=lambda place: -place.mean)


def _values(results: Path, dataset: str, subset: str, measure: str) -> Mapping[str, pd.DataFrame]:
    """Return the scores [seeds, items] of each system without overrides, or tuned on dev."""
    values = {}
    for run, path in find_records(results).items():
        metrics = path.with_name("metrics.parquet")
        if run.split("/")[1:3] != [dataset, subset] or not metrics.exists():
            continue
        record = read_record(path)
        cell = Cell.from_record(record["cell"])
        if {name for name, _ in cell.overrides} <= {HYPERPARAMETERS}:
            by_measure = scores_on_test(record, read_metrics(metrics))
            if measure in by_measure:
                name = " ".join([cell.system, *(value for _, value in cell.overrides)])
                values[name] = by_measure[measure]
    return values
