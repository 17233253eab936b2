"""Every published number beside ours, with a verdict."""

from collections.abc import Iterable

import pandas as pd

from analogyqa.plan import Cell
from analogyqa.question_types import types_of
from analogyqa.report.summary import LEDGER, MEASURED, by_cell, typed
from analogyqa.settings.paper import Paper, Published, Where
from analogyqa.settings.run import Config
from analogyqa.settings.studies import CHOSEN, PAPER, join_id

REPRODUCED, HIGHER, LOWER = "reproduced", "higher", "lower"
NOT_RUN, NOT_COMPARABLE = "not run", "not comparable"
OTHER_DATA = "our data are not the paper's"


def settings_of(model: str, config: Config) -> dict[str, str]:
    """Return the settings that a model is reported at: setting to model id.

    The setting is `paper` or `chosen`, or empty for a model that is not trained.
    """
    if not config.models[model].trained:
        return {"": model}
    ids = {PAPER: model}
    if model in config.selection.models:
        ids[CHOSEN] = join_id(model, CHOSEN)
    return ids


def verdict(published: float, low: float, high: float) -> str:
    """Judge our interval [low, high] against a published value: where do we lie?"""
    if low <= published <= high:
        return REPRODUCED
    return HIGHER if low > published else LOWER


def build_ledger(
    papers: Iterable[Paper],
    config: Config,
    summary: pd.DataFrame,
    counts: dict[str, dict[str, dict[str, int]]],
) -> pd.DataFrame:
    """Hold every published number against ours: columns `LEDGER`.

    A trained model has a row at the paper's setting and, where the configuration selects it, a
    row at the setting that its dev split chose.

    Args:
        papers: the published values.
        config: says which data sets, models and numbers of prototypes there are.
        summary: as `summarise_runs` returns it.
        counts: data set to split to question type to the number of questions.
    """
    found = by_cell(summary)
    rows = []
    for paper in papers:
        for name, artefact in paper.artefacts.items():
            for cell in artefact.numbers():
                start = {
                    "paper": paper.paper,
                    "artefact": name,
                    "row": cell.row,
                    "column": cell.column,
                    "metric": artefact.value if artefact.value != "score" else cell.where.metric,
                    "published": cell.published,
                }
                ours = _compare(artefact.value, cell, config, found, counts)
                rows += [start | _comparable(row, config) for row in ours]
    return typed(rows, LEDGER)


def _compare(value: str, cell: Published, config: Config, found: dict, counts: dict) -> list[dict]:
    if value == "questions":
        return [_count_questions(cell, counts)]
    where = cell.where
    if reason := why_not_configured(where, config):
        return [_not_run(reason)]
    if value == "best_p":
        return [_best_p(cell, config, found)]
    return [
        {"setting": setting, **_score(cell, model_id, config.p_of(where.model), found)}
        for setting, model_id in settings_of(where.model, config).items()
    ]


def why_not_configured(where: Where, config: Config) -> str:
    """Return why there can be no run of these models and data, empty when there can be."""
    if where.model in config.left_out:
        return config.left_out[where.model]
    for kind, name, known in (
        ("data set", where.dataset, config.datasets),
        ("subset", where.subset, config.subsets),
        ("model", where.model, config.models),
    ):
        if name not in known:
            return f"{kind} {name} is not configured"
    if where.p not in (None, config.prototypes.p, *config.prototypes.curve):
        return _no_such_p(where.p)
    return ""


def no_run(*cells: Cell) -> str:
    """Return the reason of what needs cells that are configured but have no run."""
    return f"no run {', '.join(dict.fromkeys(cell.path for cell in cells))}"


def _no_such_p(p: float) -> str:
    return f"p = {p:g} is not in prototypes.curve"


def _not_run(reason: str) -> dict:
    return {"verdict": NOT_RUN, "reason": reason}


def _score(cell: Published, model_id: str, p: int, found: dict) -> dict:
    where = cell.where
    run = found.get((model_id, where.dataset, where.subset, p, where.metric))
    if run is None:
        return _not_run(no_run(Cell(model_id, where.dataset, where.subset, p)))
    judged = verdict(cell.published, run["ci_low"], run["ci_high"])
    return {name: run[name] for name in (*MEASURED, "provenance")} | {"verdict": judged}


def _count_questions(cell: Published, counts: dict) -> dict:
    where = cell.where
    if where.dataset not in counts:
        return _not_run(f"data set {where.dataset} is not configured")
    count = sum(counts[where.dataset][where.split][kind] for kind in types_of(where.subset))
    return {
        "mean": count,
        "verdict": verdict(cell.published, count, count),
        "provenance": f"counted here: data {where.dataset}",
    }


def _best_p(cell: Published, config: Config, found: dict) -> dict:
    where, curve = cell.where, sorted(set(config.prototypes.curve))
    result = {"setting": PAPER if config.models[where.model].trained else ""}
    if len(curve) < 2:
        return result | _not_run("prototypes.curve has fewer than two points to compare")
    if cell.published not in curve:
        return result | _not_run(_no_such_p(cell.published))
    runs = [found.get((where.model, where.dataset, where.subset, p, where.metric)) for p in curve]
    if None in runs:
        missing = [p for p, run in zip(curve, runs, strict=True) if run is None]
        return result | _not_run(f"no run of {where.model} on {where.dataset} at p = {missing}")
    top = max(run["mean"] for run in runs)
    best = [run for run in runs if run["mean"] == top]
    # Among equals the smallest p stands for the curve: fewer comparisons for the same result.
    tied = f"equal means at p = {', '.join(str(run['p']) for run in best)}; the smallest counts"
    return result | {
        "mean": best[0]["p"],
        "n_seeds": best[0]["n_seeds"],
        "n_questions": best[0]["n_questions"],
        "verdict": verdict(cell.published, best[0]["p"], best[0]["p"]),
        "provenance": best[0]["provenance"],
        "reason": tied if len(best) > 1 else "",
    }


def _comparable(row: dict, config: Config) -> dict:
    if config.comparable:
        return row
    reason = OTHER_DATA
    if row["verdict"] == NOT_RUN:
        reason += f"; {NOT_RUN}: {row['reason']}"
    return row | {"verdict": NOT_COMPARABLE, "reason": reason}
