"""Every published number beside ours, with a verdict."""

from collections.abc import Iterable

import pandas as pd

from analogyqa.corpora.table import Counts
from analogyqa.plan import Cell, cells_by_setting, why_not
from analogyqa.report.summary import LEDGER, MEASURED, Found, by_cell, typed
from analogyqa.settings.data import ALL
from analogyqa.settings.paper import BEST, CITED, QUESTIONS, Artefact, Paper, Published
from analogyqa.settings.run import Config

REPRODUCED, HIGHER, LOWER = "reproduced", "higher", "lower"
NOT_RUN, NOT_COMPARABLE = "not run", "not comparable"
OTHER_DATA = "our data are not the paper's"


def verdict(published: float, low: float, high: float) -> str:
    """Judge our interval [low, high] against a published value: where do we lie?"""
    if low <= published <= high:
        return REPRODUCED
    return HIGHER if low > published else LOWER


def build_ledger(
    papers: Iterable[Paper], config: Config, summary: pd.DataFrame, counts: dict[str, Counts]
) -> pd.DataFrame:
    """Hold every published number against ours: columns `LEDGER`.

    A trained system has a row at the paper's setting and, where the configuration selects it, a
    row at the setting that its dev split chose. A value that the paper cites has no row.

    Args:
        papers: the published values.
        config: says which data sets, systems and points of axes there are.
        summary: as `summarise_runs` returns it.
        counts: data set to its counts of questions.
    """
    found = by_cell(summary)
    rows = []
    for paper in papers:
        for name, artefact in paper.artefacts.items():
            for number in artefact.numbers():
                if number.kind == CITED or number.published is None:
                    continue
                start = {
                    "paper": paper.paper,
                    "artefact": name,
                    "row": number.row,
                    "column": number.column,
                    "measure": number.where.measure or number.where.count,
                    "scale": artefact.scale,
                    "kind": number.kind,
                    "published": number.published,
                }
                ours = _compare(artefact, number, config, found, counts)
                rows += [start | _comparable(row, config) for row in ours]
    return typed(rows, LEDGER)


def _compare(
    artefact: Artefact, number: Published, config: Config, found: Found, counts: dict[str, Counts]
) -> list[dict]:
    if reason := why_not(number.where, config):
        return [_not_run(reason)]
    if number.kind == QUESTIONS:
        return [_count_questions(number, config, counts)]
    if number.kind == BEST:
        return [_best(artefact, number, config, found)]
    return [
        {"setting": setting, **_score(number, cell, found)}
        for setting, cell in cells_by_setting(number.where, config).items()
    ]


def no_run(*cells: Cell) -> str:
    """Return the reason of what needs cells that are configured but have no run."""
    return f"no run {', '.join(dict.fromkeys(cell.path for cell in cells))}"


def _not_run(reason: str) -> dict:
    return {"verdict": NOT_RUN, "reason": reason}


def _score(number: Published, cell: Cell, found: Found) -> dict:
    run = found.get((cell, number.where.measure))
    if run is None:
        return _not_run(no_run(cell))
    judged = verdict(number.published, run["ci_low"], run["ci_high"])
    return {name: run[name] for name in (*MEASURED, "provenance")} | {"verdict": judged}


def _count_questions(number: Published, config: Config, counts: dict[str, Counts]) -> dict:
    where = number.where
    if where.dataset not in counts:
        return _not_run(f"no corpus of {where.dataset}")
    by_type = counts[where.dataset][where.split]
    count = sum(by_type.get(kind, 0) for kind in config.types_of(where.subset) or [ALL])
    return {
        "mean": count,
        "verdict": verdict(number.published, count, count),
        "provenance": f"counted here: data {where.dataset}",
    }


def _best(artefact: Artefact, number: Published, config: Config, found: Found) -> dict:
    """Compare the point of the axis at which our mean is highest with the one that is said."""
    ((axis, _),) = artefact.x.items()
    points, cells = [], []
    for panel, line, point, where in artefact.points(config.axes):
        if (panel, line) == (number.column, number.row):
            setting, cell = next(iter(cells_by_setting(where, config).items()))
            points.append(float(point[axis]))
            cells.append(cell)
    result = {"setting": setting}
    if len(points) < 2:
        return result | _not_run(f"axes.{axis} has fewer than two points to compare")
    if number.published not in points:
        reason = f"{axis} = {number.published:g} is not among the points of axes.{axis}"
        return result | _not_run(reason)
    runs = [found.get((cell, number.where.measure)) for cell in cells]
    if None in runs:
        missing = (cell for cell, run in zip(cells, runs, strict=True) if run is None)
        return result | _not_run(no_run(*missing))
    top = max(run["mean"] for run in runs)
    best = [each for each in zip(points, runs, strict=True) if each[1]["mean"] == top]
    # Among equals the first stands for the curve: fewer comparisons for the same result.
    point, run = best[0]
    equal = ", ".join(f"{each:g}" for each, _ in best)
    return result | {
        "mean": point,
        "n_seeds": run["n_seeds"],
        "n_items": run["n_items"],
        "verdict": verdict(number.published, point, point),
        "provenance": run["provenance"],
        "reason": f"equal means at {axis} = {equal}; the first counts" if len(best) > 1 else "",
    }


def _comparable(row: dict, config: Config) -> dict:
    if config.comparable:
        return row
    reason = OTHER_DATA
    if row["verdict"] == NOT_RUN:
        reason += f"; {NOT_RUN}: {row['reason']}"
    return row | {"verdict": NOT_COMPARABLE, "reason": reason}
