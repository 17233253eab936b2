"""The ledger: every published number next to ours, with a verdict."""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from analogyqa.corpora.table import Counts
from analogyqa.plan import Cell, cells_by_hyperparameters, has_costs, why_no_run
from analogyqa.report.spread import shares_of_best
from analogyqa.report.summary import DECIMALS, LEDGER, MEASURED, Summaries, Values, by_cell, typed
from analogyqa.runs.cost import STEPS, Costs
from analogyqa.settings.coordinates import COST, COUNT, SCORE, Coordinates
from analogyqa.settings.data import ALL
from analogyqa.settings.paper import BEST, CITED, Artefact, Paper, Published
from analogyqa.settings.run import Config
from analogyqa.settings.studies import PAPER

REPRODUCED, HIGHER, LOWER = "reproduced", "higher", "lower"
INCONCLUSIVE, ENFORCED = "inconclusive", "enforced"
NOT_RUN, NOT_COMPARABLE = "not run", "not comparable"
OTHER_DATA = "our data are not the paper's"
ONE_SEED = "one seed gives no prediction interval"
OTHER_MACHINE = "the seconds are of another machine; compare ratios of systems instead"
# Printed values that differ by less are the same value, rounded or cut off.
SAME_VALUE = 0.0007
ROUNDED = 10.0**-DECIMALS / 2  # the rounding error of our own values
SAME_SIZE = 0.01  # numbers of parameters whose relative difference is smaller are equal

# Data set to its counts.
AllCounts = dict[str, dict[str, Counts]]
# Paper, artefact, row and column of a published value.
_Printed = tuple[str, str, str, str]


def verdict(
    published: float, low: float | None, high: float | None, rivals: Iterable[float] = ()
) -> str:
    """Compare our interval with a published value.

    Args:
        published: the published value.
        low, high: our interval; None or NaN if it is not known, which is inconclusive.
        rivals: the published values of competing systems, which the paper calls better or worse.
            If one of them is in the interval, too, the verdict is inconclusive.
    """
    if low is None or pd.isna(low):
        return INCONCLUSIVE
    if low <= published <= high:
        return INCONCLUSIVE if any(low <= rival <= high for rival in rivals) else REPRODUCED
    return HIGHER if low > published else LOWER


def build_ledger(
    papers: Sequence[Paper],
    config: Config,
    summary: pd.DataFrame,
    counts: AllCounts,
    values: Values,
    only: tuple[str, str] | None = None,
    costs: Costs | None = None,
) -> pd.DataFrame:
    """Compare every published number with ours: columns `LEDGER`.

    A published value is one run of the paper's system on the same questions. It is therefore
    compared with the prediction interval of one more run of ours; if all seeds agree, it is
    compared with our value at the printed precision. A trained system has a row with the paper's
    hyperparameters and, if the configuration tunes it, another with those tuned on dev. A value
    that the paper cites has no row.

    Args:
        papers: the published values.
        config: the configured data sets, systems and sweeps.
        summary: as `summarise_runs` returns it.
        counts: data set to its counts, as `count_corpora` returns them.
        values: the scores by question, for curves whose best point is judged.
        only: a paper and an artefact, to leave out all others.
        costs: the costs of training, as `read_costs` returns them.
    """
    summaries, repeats = by_cell(summary), repeated(papers)
    rows = []
    for paper in papers:
        for name, artefact in paper.artefacts.items():
            if only not in (None, (paper.paper, name)):
                continue
            for number in artefact.numbers():
                if number.kind == CITED or number.published is None:
                    continue
                start = {
                    "paper": paper.paper,
                    "artefact": name,
                    "row": number.row,
                    "column": number.column,
                    "measure": measured(number.coordinates),
                    "scale": artefact.scale,
                    "kind": number.kind,
                    "published": number.published,
                    "repeats": repeats.get((paper.paper, name, number.row, number.column), ""),
                }
                if reason := why_no_run(number.coordinates, config):
                    ours = [_not_run(reason)]
                elif number.kind == COUNT:
                    ours = [count_of(number.coordinates, config, counts, number.published)]
                elif number.kind == COST:
                    ours = [cost_of(number.coordinates, config, costs or {}, number.published)]
                elif number.kind == BEST:
                    ours = [_best(artefact, number, config, summaries, values)]
                else:
                    ours = _scores(paper, artefact, number, config, summaries)
                remark = artefact.remark_on(number.row, number.column)
                rows += [start | _if_comparable(_with_remark(row, remark), config) for row in ours]
    return typed(rows, LEDGER)


def repeated(papers: Sequence[Paper]) -> dict[_Printed, str]:
    """Return the scores that are also printed earlier, each with a note on where.

    Equal values of one measure on the same data are the same score, even if the paper gives them
    to different systems.
    """
    earlier: list[tuple[str, Coordinates, float]] = []
    notes = {}
    for paper in papers:
        for name, artefact in paper.artefacts.items():
            for number in artefact.numbers():
                if number.kind != SCORE or number.published is None:
                    continue
                coordinates = number.coordinates
                same = next((score for score in earlier if _is_same(score, number)), None)
                if same is None:
                    place = f"{name} of {paper.paper} ({number.row}, {number.column})"
                    earlier.append((place, coordinates, number.published))
                    continue
                is_other = same[1].system != coordinates.system
                for_whom = f", there for another system ({same[1].system})" if is_other else ""
                key = (paper.paper, name, number.row, number.column)
                notes[key] = f"also printed in {same[0]}{for_whom}"
    return notes


def _is_same(earlier: tuple[str, Coordinates, float], number: Published) -> bool:
    _, first, value = earlier
    second = number.coordinates
    return (
        (first.dataset, first.subset, first.measure)
        == (second.dataset, second.subset, second.measure)
    ) and abs(value - number.published) < SAME_VALUE


def no_run(*cells: Cell) -> str:
    """Return the reason for a value whose cells are configured but have no run."""
    return f"no run {', '.join(dict.fromkeys(cell.path for cell in cells))}"


def _not_run(reason: str) -> dict:
    return {"verdict": NOT_RUN, "reason": reason}


def _scores(
    paper: Paper, artefact: Artefact, number: Published, config: Config, summaries: Summaries
) -> list[dict]:
    rivals = rivals_of(paper, number.coordinates)
    rows = []
    for hyperparameters, cell in cells_by_hyperparameters(number.coordinates, config).items():
        run = summaries.get((cell, number.coordinates.measure))
        if run is None:
            rows.append({"hyperparameters": hyperparameters, **_not_run(no_run(cell))})
            continue
        measured_values = {name: run[name] for name in (*MEASURED, "provenance", "substitute")}
        low, high = run["run_low"], run["run_high"]
        row = {
            "hyperparameters": hyperparameters,
            "verdict": verdict(number.published, low, high, rivals),
        }
        if low == high:
            # Another run gives the same value, so only the paper's rounding can differ.
            margin = artefact.rounding(number.column) + ROUNDED
            row["verdict"] = verdict(number.published, low - margin, high + margin)
        if pd.isna(low):
            row["reason"] = ONE_SEED
        elif row["verdict"] == INCONCLUSIVE:
            inside = ", ".join(f"{rival:g}" for rival in rivals if low <= rival <= high)
            row["reason"] = f"the interval also contains {inside}, published for competing systems"
        rows.append(measured_values | row)
    return rows


def rivals_of(paper: Paper, coordinates: Coordinates) -> list[float]:
    """Return the published values that the claims of a paper compare with some coordinates."""
    opponents = [
        pair[1 - side]
        for pair in paper.compared
        for side in (0, 1)
        if pair[side].key == coordinates.key and pair[1 - side].measure == coordinates.measure
    ]
    values = (paper.published_at(opponent) for opponent in opponents)
    return list(dict.fromkeys(value for value in values if value is not None))


def measured(coordinates: Coordinates) -> str:
    """Return what is measured at some coordinates: a measure, a count or a cost."""
    over = f" over {coordinates.over}" if coordinates.over else ""
    return coordinates.measure or coordinates.count or f"{coordinates.cost}{over}"


def cost_of(
    coordinates: Coordinates, config: Config, costs: Costs, published: float | None = None
) -> dict:
    """Return the cost of a system, or its ratio to that of another system, and the verdict.

    The interval is the range over the timed steps. Both systems took their steps in turns, and a
    ratio is that of two steps of one turn.
    """
    if not has_costs(config.systems[coordinates.system]):
        return {}
    names = [name for name in (coordinates.system, coordinates.over) if name]
    keys = [(coordinates.dataset, coordinates.subset, name) for name in names]
    if missing := [key[-1] for key in keys if key not in costs]:
        return _not_run(f"no cost of {', '.join(missing)} on {coordinates.dataset}")
    measured_costs = [costs[key] for key in keys]
    values = np.array(measured_costs[0].values(coordinates.cost))
    if coordinates.over:
        values = values / np.array(measured_costs[1].values(coordinates.cost))
    mean, low, high = values.mean(), values.min(), values.max()
    if coordinates.cost == "parameters":
        low, high = mean * (1 - SAME_SIZE), mean * (1 + SAME_SIZE)
        how = "counted here"
    else:
        batches = " and ".join(f"{cost.batches} batches" for cost in measured_costs)
        how = f"{STEPS} steps of {batches} an epoch, on {measured_costs[0].machine}"
    hyperparameters = "" if config.systems[coordinates.system].only_costs else PAPER
    row = {
        "hyperparameters": hyperparameters,
        "mean": round(float(mean), DECIMALS),
        "provenance": how,
    }
    if coordinates.cost != "parameters":
        row |= {"run_low": round(float(low), DECIMALS), "run_high": round(float(high), DECIMALS)}
    if published is None:
        return row
    if coordinates.cost != "parameters" and not coordinates.over:
        return row | {"verdict": NOT_COMPARABLE, "reason": OTHER_MACHINE}
    return row | {"verdict": verdict(published, low, high)}


def count_of(
    coordinates: Coordinates, config: Config, counts: AllCounts, published: float | None = None
) -> dict:
    """Return a count of a corpus, and the verdict if a count is published."""
    if coordinates.dataset not in counts:
        return _not_run(f"no corpus of {coordinates.dataset}")
    by_type = counts[coordinates.dataset][coordinates.count][coordinates.split]
    types = config.types_of(coordinates.subset) or [ALL]
    count = sum(by_type.get(name, 0) for name in types)
    ours = {"mean": count, "provenance": f"counted here: data {coordinates.dataset}"}
    if published is None:
        return ours
    expected = config.datasets[coordinates.dataset].questions.get(coordinates.split, {})
    if coordinates.count == "questions" and set(types) <= set(expected) and count == published:
        return ours | {"verdict": ENFORCED, "reason": "other data are refused"}
    return ours | {"verdict": verdict(published, *_as_printed(count))}


def _as_printed(count: int) -> tuple[float, float]:
    """Return the range of counts that are printed alike: 1,148 as 1.1K and 53,417 as 53K."""
    if count < 1000:
        return count, count
    unit = 100 if count < 10_000 else 1000
    return count - unit / 2, count + unit / 2


def _best(
    artefact: Artefact, number: Published, config: Config, summaries: Summaries, values: Values
) -> dict:
    """Compare the published best point of a curve with how often each of our points is the best.

    This is a bootstrap over seeds and questions. [ci_low, ci_high] spans the points that are best
    most often and together reach the confidence; the mean is the point that is best most often.
    """
    ((override, _),) = artefact.x.items()
    points, cells = [], []
    for panel, line, point, coordinates in artefact.points(config.sweeps):
        if (panel, line) == (number.column, number.row):
            hyperparameters, cell = next(
                iter(cells_by_hyperparameters(coordinates, config).items())
            )
            points.append(float(point[override]))
            cells.append(cell)
    result = {"hyperparameters": hyperparameters}
    if len(points) < 2:
        return result | _not_run(f"sweeps.{override} has fewer than two points to compare")
    if number.published not in points:
        reason = f"{override} = {number.published:g} is not among the points of sweeps.{override}"
        return result | _not_run(reason)
    curve = [values(cell, number.coordinates.measure) for cell in cells]
    if missing := [cell for cell, point in zip(cells, curve, strict=True) if point is None]:
        return result | _not_run(no_run(*missing))
    shares = shares_of_best([point.to_numpy() for point in curve], config.bootstrap.samples)
    order = np.argsort(-shares, kind="stable")
    enough = int(np.searchsorted(np.cumsum(shares[order]), config.bootstrap.confidence - 1e-9)) + 1
    likely = sorted(points[index] for index in order[:enough])
    best = points[order[0]]
    judged = verdict(number.published, likely[0], likely[-1])
    if number.published in likely:
        judged = REPRODUCED if len(likely) == 1 else INCONCLUSIVE
    elif judged == REPRODUCED:  # between two likely points
        judged = verdict(number.published, best, best)
    run = summaries.get((cells[order[0]], number.coordinates.measure), {})
    percentages = ", ".join(
        f"{point:g} {share:.0%}" for point, share in zip(points, shares, strict=True)
    )
    return result | {
        "mean": best,
        "ci_low": likely[0],
        "ci_high": likely[-1],
        "n_seeds": len(curve[0]),
        "n_items": curve[0].shape[1],
        "verdict": judged,
        "provenance": run.get("provenance", ""),
        "substitute": run.get("substitute", ""),
        "reason": f"share of draws in which each {override} is the best: {percentages}",
    }


def _with_remark(row: dict, remark: str) -> dict:
    return row | {"reason": "; ".join(filter(None, [row.get("reason"), remark]))}


def _if_comparable(row: dict, config: Config) -> dict:
    if config.comparable or row["verdict"] == NOT_RUN:
        return row
    return row | {"verdict": NOT_COMPARABLE, "reason": OTHER_DATA}
