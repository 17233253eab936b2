"""Every published number beside ours, with a verdict."""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from analogyqa.corpora.table import Counts
from analogyqa.plan import Cell, cells_by_hyperparameters, has_costs, why_no_run
from analogyqa.report.spread import shares_of_best
from analogyqa.report.summary import DECIMALS, LEDGER, MEASURED, Found, Values, by_cell, typed
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
ONE_SEED = "one seed does not say where a further run would lie"
OTHER_MACHINE = "seconds are of another machine: hold how many times longer a system takes"
# Printed values that differ by less are one value, rounded or cut off.
SAME_VALUE = 0.0007
ROUNDED = 10.0**-DECIMALS / 2  # what our own values, as they are written, may be off
SAME_SIZE = 0.01  # of its own: numbers of parameters that differ by less are one number

# By data set.
AllCounts = dict[str, dict[str, Counts]]
# Paper, artefact, row and column of a printed value.
_Printed = tuple[str, str, str, str]


def verdict(
    published: float, low: float | None, high: float | None, rivals: Iterable[float] = ()
) -> str:
    """Judge our interval [low, high] against a published value: where do we lie?

    `rivals` are published values that the paper calls better or worse than this one. An interval
    that has one of them, too, inconclusive; nor can one that is not known.
    """
    if low is None or pd.isna(low):
        return INCONCLUSIVE
    if low <= published <= high:
        return INCONCLUSIVE if any(low <= each <= high for each in rivals) else REPRODUCED
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
    """Hold every published number against ours: columns `LEDGER`.

    A published value is one run of the paper's system on the same questions. So it is held against
    the interval of one further run of ours; where every seed gives the same, against ours at the
    digits that are printed. A trained system has a row with the paper's hyperparameters
    and, where the configuration tunes it, a row with those tuned on dev. A value that the paper
    cites has no row.

    Args:
        papers: the published values.
        config: says which data sets, systems and points of overrides there are.
        summary: as `summarise_runs` returns it.
        counts: data set to its counts, as `count_corpora` returns them.
        values: of the curves whose best point is judged.
        only: paper and artefact, where not all rows are wanted.
        costs: what training costs, as `read_costs` returns it.
    """
    found, repeats = by_cell(summary), repeated(papers)
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
                    ours = [_best(artefact, number, config, found, values)]
                else:
                    ours = _scores(paper, artefact, number, config, found)
                remark = artefact.remark_on(number.row, number.column)
                rows += [start | _comparable(_remarked(row, remark), config) for row in ours]
    return typed(rows, LEDGER)


def repeated(papers: Sequence[Paper]) -> dict[_Printed, str]:
    """Return the scores that were printed before, each with where, and for what.

    They are values of one measure on the same data. A value may stand for another system there.
    """
    before: list[tuple[str, Coordinates, float]] = []
    found = {}
    for paper in papers:
        for name, artefact in paper.artefacts.items():
            for number in artefact.numbers():
                if number.kind != SCORE or number.published is None:
                    continue
                coordinates = number.coordinates
                same = next((each for each in before if _is_same(each, number)), None)
                if same is None:
                    place = f"{name} of {paper.paper} ({number.row}, {number.column})"
                    before.append((place, coordinates, number.published))
                    continue
                other = same[1].system != coordinates.system
                for_whom = f", there for another system ({same[1].system})" if other else ""
                key = (paper.paper, name, number.row, number.column)
                found[key] = f"printed in {same[0]}, too{for_whom}"
    return found


def _is_same(before: tuple[str, Coordinates, float], number: Published) -> bool:
    _, coordinates, value = before
    of_data = [
        (each.dataset, each.subset, each.measure) for each in (coordinates, number.coordinates)
    ]
    return of_data[0] == of_data[1] and abs(value - number.published) < SAME_VALUE


def no_run(*cells: Cell) -> str:
    """Return the reason of what needs cells that are configured but have no run."""
    return f"no run {', '.join(dict.fromkeys(cell.path for cell in cells))}"


def _not_run(reason: str) -> dict:
    return {"verdict": NOT_RUN, "reason": reason}


def _scores(
    paper: Paper, artefact: Artefact, number: Published, config: Config, found: Found
) -> list[dict]:
    rivals = rivals_of(paper, number.coordinates)
    rows = []
    for hyperparameters, cell in cells_by_hyperparameters(number.coordinates, config).items():
        run = found.get((cell, number.coordinates.measure))
        if run is None:
            rows.append({"hyperparameters": hyperparameters, **_not_run(no_run(cell))})
            continue
        shown = {name: run[name] for name in (*MEASURED, "provenance", "substitute")}
        low, high = run["run_low"], run["run_high"]
        row = {
            "hyperparameters": hyperparameters,
            "verdict": verdict(number.published, low, high, rivals),
        }
        if low == high:
            # No further run lies anywhere else: all that is open is how the paper rounds.
            reach = artefact.rounding(number.column) + ROUNDED
            row["verdict"] = verdict(number.published, low - reach, high + reach)
        if pd.isna(low):
            row["reason"] = ONE_SEED
        elif row["verdict"] == INCONCLUSIVE:
            inside = ", ".join(f"{each:g}" for each in rivals if low <= each <= high)
            row["reason"] = (
                f"a further run may as well be at {inside}, printed for what it is compared with"
            )
        rows.append(shown | row)
    return rows


def rivals_of(paper: Paper, coordinates: Coordinates) -> list[float]:
    """Return what a paper prints for what its claims call better or worse than a place."""
    others = [
        pair[1 - side]
        for pair in paper.compared
        for side in (0, 1)
        if pair[side].key == coordinates.key and pair[1 - side].measure == coordinates.measure
    ]
    values = (paper.published_at(each) for each in others)
    return list(dict.fromkeys(value for value in values if value is not None))


def measured(coordinates: Coordinates) -> str:
    """Return what is measured at a place: the measure, or what is counted or costs."""
    over = f" over {coordinates.over}" if coordinates.over else ""
    return coordinates.measure or coordinates.count or f"{coordinates.cost}{over}"


def cost_of(
    coordinates: Coordinates, config: Config, costs: Costs, published: float | None = None
) -> dict:
    """Return what a system costs, or how many times what another one does, and the verdict.

    The interval is from the least to the most of the steps that were timed in turns, a system's and
    the other one's of one turn held against each other.
    """
    if not has_costs(config.systems[coordinates.system]):
        return {}
    names = [name for name in (coordinates.system, coordinates.over) if name]
    wanted = [(coordinates.dataset, coordinates.subset, name) for name in names]
    if missing := [name for *at, name in wanted if (*at, name) not in costs]:
        return _not_run(f"no cost of {', '.join(missing)} on {coordinates.dataset}")
    each = [costs[key] for key in wanted]
    own = np.array(each[0].values(coordinates.cost))
    if coordinates.over:
        own = own / np.array(each[1].values(coordinates.cost))
    mean, low, high = own.mean(), own.min(), own.max()
    if coordinates.cost == "parameters":
        low, high = mean * (1 - SAME_SIZE), mean * (1 + SAME_SIZE)
        how = "counted here"
    else:
        batches = " and ".join(f"{cost.batches} batches" for cost in each)
        how = f"{STEPS} steps of {batches} an epoch, on {each[0].machine}"
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
    """Return how many there are at a place, and the verdict where a count is published."""
    if coordinates.dataset not in counts:
        return _not_run(f"no corpus of {coordinates.dataset}")
    by_type = counts[coordinates.dataset][coordinates.count][coordinates.split]
    types = config.types_of(coordinates.subset) or [ALL]
    count = sum(by_type.get(kind, 0) for kind in types)
    ours = {"mean": count, "provenance": f"counted here: data {coordinates.dataset}"}
    if published is None:
        return ours
    expected = config.datasets[coordinates.dataset].questions.get(coordinates.split, {})
    if coordinates.count == "questions" and set(types) <= set(expected) and count == published:
        return ours | {"verdict": ENFORCED, "reason": "other data are refused"}
    return ours | {"verdict": verdict(published, *_as_printed(count))}


def _as_printed(count: int) -> tuple[float, float]:
    """Return the least and the most that a count may be printed as: 1,148 is 1.1K, 53,417 53K."""
    if count < 1000:
        return count, count
    unit = 100 if count < 10_000 else 1000
    return count - unit / 2, count + unit / 2


def _best(
    artefact: Artefact, number: Published, config: Config, found: Found, values: Values
) -> dict:
    """Hold the point of an override that is said to be best against how often each of ours is.

    That is a bootstrap over seeds and questions. The points that are best in most draws, as many as
    make up the confidence, are [ci_low, ci_high]; the mean is the one that is best most often.
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
    if missing := [cell for cell, own in zip(cells, curve, strict=True) if own is None]:
        return result | _not_run(no_run(*missing))
    shares = shares_of_best([own.to_numpy() for own in curve], config.bootstrap.samples)
    order = np.argsort(-shares, kind="stable")
    enough = int(np.searchsorted(np.cumsum(shares[order]), config.bootstrap.confidence - 1e-9)) + 1
    likely = sorted(points[index] for index in order[:enough])
    best = points[order[0]]
    judged = verdict(number.published, likely[0], likely[-1])
    if number.published in likely:
        judged = REPRODUCED if len(likely) == 1 else INCONCLUSIVE
    elif judged == REPRODUCED:  # between two likely points
        judged = verdict(number.published, best, best)
    run = found.get((cells[order[0]], number.coordinates.measure), {})
    told = ", ".join(f"{points[index]:g} {shares[index]:.0%}" for index in range(len(points)))
    return result | {
        "mean": best,
        "ci_low": likely[0],
        "ci_high": likely[-1],
        "n_seeds": len(curve[0]),
        "n_items": curve[0].shape[1],
        "verdict": judged,
        "provenance": run.get("provenance", ""),
        "substitute": run.get("substitute", ""),
        "reason": f"how often each {override} is the best: {told}",
    }


def _remarked(row: dict, remark: str) -> dict:
    return row | {"reason": "; ".join(filter(None, [row.get("reason"), remark]))}


def _comparable(row: dict, config: Config) -> dict:
    if config.comparable or row["verdict"] == NOT_RUN:
        return row
    return row | {"verdict": NOT_COMPARABLE, "reason": OTHER_DATA}
