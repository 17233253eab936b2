"""The kinds of published numbers: how we get our value and judge it.

A kind has an entry in OUR_VALUES here, and one in `settings.coordinates.KINDS` with the keys of
its numbers. `report.table_formats.TEXTS` says how tables show it.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd

from analogyqa.cells import Cell, cells_by_hyperparameters, has_costs, why_no_run
from analogyqa.evaluation.attainable import MOST_RUNS, runs_needed
from analogyqa.evaluation.results import Results
from analogyqa.evaluation.spread import interval_of_runs, shares_of_best
from analogyqa.evaluation.summary import DECIMALS, MEASURED
from analogyqa.evaluation.verdicts import (
    ENFORCED,
    INCONCLUSIVE,
    NOT_COMPARABLE,
    REPRODUCED,
    no_run,
    not_run,
    verdict,
)
from analogyqa.measures import MEASURES
from analogyqa.runs.cost import STEPS
from analogyqa.settings.artefacts import BEST, Artefact, Published
from analogyqa.settings.coordinates import COST, COUNT, SCORE, Coordinates
from analogyqa.settings.data import ALL
from analogyqa.settings.paper import Paper
from analogyqa.settings.run import Config
from analogyqa.settings.studies import PAPER

ONE_SEED = "one seed, or seeds with the same models, give no prediction interval"
OTHER_MACHINE = "measured on another machine; compare ratios between systems"
ROUNDED = 10.0**-DECIMALS / 2  # the rounding error of our own values
SAME_SIZE = 0.01  # numbers of parameters whose relative difference is smaller are equal


class TableEntry(NamedTuple):
    """A number, printed or not, with its table or figure and its paper."""

    number: Published
    artefact: Artefact
    paper: Paper


def our_values(entry: TableEntry, config: Config, results: Results) -> list[dict]:
    """Return our values for an entry, one for each set of hyperparameters: columns of LEDGER."""
    number = entry.number
    start = {"kind": number.kind, "measure": number.coordinates.measured}
    if reason := why_no_run(number.coordinates, config):
        return [start | not_run(reason + _would_cost(number.coordinates, config, results))]
    return [start | row for row in OUR_VALUES[number.kind](entry, config, results)]


def _would_cost(coordinates: Coordinates, config: Config, results: Results) -> str:
    """Return the training time of a system of which only costs are measured, or ""."""
    cost = results.costs.get((coordinates.dataset, coordinates.subset, coordinates.system))
    if not cost or not config.systems[coordinates.system].only_costs:
        return ""
    seconds = float(np.mean(cost.values("seconds_per_epoch")))
    epochs = config.systems[coordinates.system].training.max_epochs
    return f"; {epochs} epochs of {seconds:,.0f} s are {epochs * seconds / 3600:,.0f} h for a seed"


def _scores(entry: TableEntry, config: Config, results: Results) -> list[dict]:
    number, artefact, paper = entry
    competitors = paper.competitors(number.coordinates)
    rows = []
    for hyperparameters, cell in cells_by_hyperparameters(number.coordinates, config).items():
        run = results.by_cell.get((cell, number.coordinates.measure or ""))
        row = {"hyperparameters": hyperparameters}
        if run is None:
            rows.append(row | not_run(no_run(cell)))
            continue
        row |= {name: run[name] for name in (*MEASURED, "provenance", "substitute")}
        if number.published is not None:
            row |= _judged(number, run, competitors, config)
            if run["run_low"] == run["run_high"]:
                # Another run gives the same value, so only the paper's rounding can differ.
                margin = artefact.rounding(number.column) + ROUNDED
                low, high = run["mean"] - margin, run["mean"] + margin
                row["verdict"] = verdict(number.published, low, high)
        rows.append(row)
    return rows


def _judged(number: Published, run: dict, competitors: list[float], config: Config) -> dict:
    """Compare our interval with a published score, as columns of LEDGER.

    If one run cannot give the published value, the interval is that of a mean of several runs.
    """
    published, measure = number.published or 0, number.coordinates.measure or ""
    low, high, runs, reasons = run["run_low"], run["run_high"], None, []
    if config.comparable and MEASURES[measure].values:
        runs = runs_needed(published, number.step, measure, run["n_items"])
        if not runs:
            count = f"{MOST_RUNS} runs of {run['n_items']} items"
            reasons.append(f"no mean of up to {count} gives this value")
    if runs and runs > 1:
        spread = run["mean"], run["sd"], run["n_seeds"], config.bootstrap.confidence
        interval = interval_of_runs(*spread, runs, MEASURES[measure].largest)
        low, high = (round(end, DECIMALS) for end in interval)
        reasons.append(
            f"one run on {run['n_items']} items cannot give {published:g}, a mean of {runs} runs "
            "can; the interval is that of such a mean"
        )
    judged = verdict(published, low, high, competitors)
    if pd.isna(low):
        reasons.append(ONE_SEED)
    elif judged == INCONCLUSIVE:
        inside = ", ".join(f"{value:g}" for value in competitors if low <= value <= high)
        reasons.append(f"the interval also contains {inside}, published for competing systems")
    return {
        "attainable_runs": runs,
        "run_low": low,
        "run_high": high,
        "verdict": judged,
        "reason": "; ".join(reasons),
    }


def _costs(entry: TableEntry, config: Config, results: Results) -> list[dict]:
    """Return the cost of a system, or its ratio to that of another system, and the verdict.

    The interval is the range over the timed steps. The training steps of both systems are
    interleaved, and each ratio is that of two steps of one round.
    """
    coordinates, published = entry.number.coordinates, entry.number.published
    system = config.systems[coordinates.system]
    if not has_costs(system):
        return [
            {} if published is None else not_run(f"no costs of {coordinates.system} are measured")
        ]
    names = [name for name in (coordinates.system, coordinates.over) if name]
    keys = [(coordinates.dataset, coordinates.subset, name) for name in names]
    if missing := [key[-1] for key in keys if key not in results.costs]:
        return [not_run(f"no cost of {', '.join(missing)} on {coordinates.dataset}")]
    costs = [results.costs[key] for key in keys]
    by_step = [np.asarray(cost.values(coordinates.cost or ""), dtype=float) for cost in costs]
    values = by_step[0] / by_step[1] if coordinates.over else by_step[0]
    mean, low, high = values.mean(), values.min(), values.max()
    row = {
        "hyperparameters": "" if system.only_costs else PAPER,
        "mean": round(float(mean), DECIMALS),
    }
    if coordinates.cost == "parameters":
        low, high = mean * (1 - SAME_SIZE), mean * (1 + SAME_SIZE)
        row["provenance"] = "counted here"
    else:
        batches = " and ".join(f"{cost.batches} batches" for cost in costs)
        row["provenance"] = f"{STEPS} steps of {batches} an epoch, on {costs[0].machine}"
        row |= {"run_low": round(float(low), DECIMALS), "run_high": round(float(high), DECIMALS)}
    if published is None:
        return [row]
    if coordinates.cost != "parameters" and not coordinates.over:
        return [row | {"verdict": NOT_COMPARABLE, "reason": OTHER_MACHINE}]
    return [row | {"verdict": verdict(published, low, high)}]


def _counts(entry: TableEntry, config: Config, results: Results) -> list[dict]:
    """Return a count of a corpus, and the verdict if a count is published."""
    coordinates, published = entry.number.coordinates, entry.number.published
    if coordinates.dataset not in results.counts:
        return [not_run(f"no corpus of {coordinates.dataset}")]
    split, counted = coordinates.split or "", coordinates.count or ""
    by_type = results.counts[coordinates.dataset][counted][split]
    types = config.types_of(coordinates.subset) or [ALL]
    if counted in ("pairs", "all_questions") and types != [ALL]:
        return [not_run(f"{counted} are counted for the subset {ALL} only")]
    count = sum(by_type.get(name, 0) for name in types)
    row = {"mean": count, "provenance": f"counted here: data {coordinates.dataset}"}
    if published is None:
        return [row]
    expected = config.datasets[coordinates.dataset].questions.get(split, {}) if split else {}
    if coordinates.count == "questions" and set(types) <= set(expected) and count == published:
        return [row | {"verdict": ENFORCED, "reason": "other data are refused"}]
    if count == published and all(_is_capped(name, coordinates, config, results) for name in types):
        reason = "the pipeline generates exactly the configured number of pairs"
        return [row | {"verdict": ENFORCED, "reason": reason}]
    return [row | {"verdict": verdict(published, *_as_printed(count, published))}]


def _is_capped(category: str, coordinates: Coordinates, config: Config, results: Results) -> bool:
    """Return whether a category has its maximum number of sentence pairs."""
    if category not in config.categories:
        return False
    pairs = results.counts[coordinates.dataset]["questions"][coordinates.split or ""]
    return pairs.get(category) == config.categories[category].pairs


def _as_printed(count: int, published: float) -> tuple[float, float]:
    """Return the range of published counts that a count may be printed as.

    It may be rounded or cut off: 3,270 is 3.3K or 3.2K. A published 1148 is printed in full, so
    only 1,148 is alike.
    """
    if count < 1000:
        return count, count
    unit = 100 if count < 10_000 else 1000
    while round(published) % unit:
        unit //= 10
    return count - unit + 1, count + unit / 2


class _CurvePoint(NamedTuple):
    """A point of a curve: its value of x, and its cell with the hyperparameters."""

    x: float
    hyperparameters: str
    cell: Cell


def _curve(number: Published, artefact: Artefact, config: Config) -> list[_CurvePoint]:
    """Return the points of the curve whose best point is published."""
    ((override, _),) = artefact.x.items()
    return [
        _CurvePoint(
            float(str(point[override])),
            *next(iter(cells_by_hyperparameters(coordinates, config).items())),
        )
        for panel, line, point, coordinates in artefact.points(config.sweeps)
        if (panel, line) == (number.column, number.row)
    ]


def _best_points(entry: TableEntry, config: Config, results: Results) -> list[dict]:
    """Compare the published best point of a curve with the likely best points of ours.

    This is a bootstrap over seeds and questions. [ci_low, ci_high] spans the points that are best
    most often and together reach the confidence; the mean is the point that is best most often.
    """
    number, artefact, _ = entry
    ((override, _),) = artefact.x.items()
    curve = _curve(number, artefact, config)
    points = [point.x for point in curve]
    row: dict = {"hyperparameters": curve[-1].hyperparameters if curve else ""}
    if len(points) < 2:
        return [row | not_run(f"sweeps.{override} has fewer than two points to compare")]
    if number.published not in points:
        reason = f"{override} = {number.published:g} is not among the points of sweeps.{override}"
        return [row | not_run(reason)]
    measure = number.coordinates.measure or ""
    values = [results.values(point.cell, measure) for point in curve]
    scores = [by_seed.to_numpy() for by_seed in values if by_seed is not None]
    if len(scores) < len(curve):
        pairs = zip(curve, values, strict=True)
        missing = [point.cell for point, by_seed in pairs if by_seed is None]
        return [row | not_run(no_run(*missing))]
    shares = shares_of_best(scores, config.bootstrap.samples)
    run = results.by_cell.get((curve[int(np.argmax(shares))].cell, measure), {})
    percentages = ", ".join(
        f"{point:g} {share:.0%}" for point, share in zip(points, shares, strict=True)
    )
    row |= _judge_best(number.published, points, shares, config.bootstrap.confidence)
    return [
        row
        | {
            "n_seeds": scores[0].shape[0],
            "n_items": scores[0].shape[1],
            "provenance": run.get("provenance", ""),
            "substitute": run.get("substitute", ""),
            "reason": f"share of draws in which each {override} is the best: {percentages}",
        }
    ]


def _judge_best(
    published: float, points: list[float], shares: np.ndarray, confidence: float
) -> dict:
    """Compare a published best point with the likely ones, as columns of LEDGER.

    Args:
        published: The published best point.
        points: The points of the curve.
        shares: The share of draws in which each point is the best, float [points].
        confidence: The share of draws that the likely points reach together.
    """
    order = np.argsort(-shares, kind="stable")
    enough = int(np.searchsorted(np.cumsum(shares[order]), confidence - 1e-9)) + 1
    likely = sorted(points[index] for index in order[:enough])
    low, best, high = likely[0], points[order[0]], likely[-1]
    if published in likely:
        judged = REPRODUCED if len(likely) == 1 else INCONCLUSIVE
    elif low < published < high:  # between two likely points
        judged = verdict(published, best, best)
    else:
        judged = verdict(published, low, high)
    return {"mean": best, "ci_low": low, "ci_high": high, "verdict": judged}


# Each returns our values for an entry, one for each set of hyperparameters: columns of LEDGER, with
# verdict and reason if a value is published.
OUR_VALUES: dict[str, Callable[[TableEntry, Config, Results], list[dict]]] = {
    SCORE: _scores,
    COUNT: _counts,
    COST: _costs,
    BEST: _best_points,
}
