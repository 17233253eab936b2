"""Compare finished runs: two folders cell by cell, and all systems on a subset."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from analogyqa.cells.cell import differences
from analogyqa.errors import AnalogyQAError
from analogyqa.evaluation.significance import significance_level
from analogyqa.evaluation.summary import find_records, find_systems, read_record, scores_on_test
from analogyqa.evaluation.systems import compare_systems, rank_systems
from analogyqa.measures import MEASURES
from analogyqa.runs.record import read_metrics
from analogyqa.settings.base import nearest_hint
from analogyqa.settings.run import Config

ONLY_FIRST, ONLY_SECOND = "only in the first", "only in the second"
_SETTINGS = 5  # the number of differing settings that are named


class CellDifference(NamedTuple):
    """A cell whose results differ between two folders, or that only one of them has.

    `values` are the first measure that the cell has, and what `compare_systems` returns for it;
    empty unless compared.
    """

    cell: str  # its path below runs/
    state: str  # "only in the first", "only in the second", "other questions" or "compared"
    values: dict
    because: list[str]  # the settings, inputs, versions and commits that differ


def compare_folders(
    first: str | Path, second: str | Path, config: Config
) -> tuple[int, list[CellDifference]]:
    """Return the number of cells with equal scores in both output folders, and all other cells.

    Raises AnalogyQAError when a folder has no run, or a damaged one.
    """
    paths, other_paths = find_records(first), find_records(second)
    for folder, found in ((first, paths), (second, other_paths)):
        if not found:
            raise AnalogyQAError(
                f"{folder}: it has no run. Name the output folder of a run, such as results/demo"
            )
    equal, different = 0, []
    for cell in dict.fromkeys([*paths, *other_paths]):
        if cell not in paths or cell not in other_paths:
            state = ONLY_FIRST if cell in paths else ONLY_SECOND
            different.append(CellDifference(cell, state, {}, []))
            continue
        before, now = read_record(paths[cell]), read_record(other_paths[cell])
        if before["scores"] == now["scores"]:
            equal += 1
            continue
        values = _compare_scores(paths[cell], other_paths[cell], config)
        state = "compared" if values else "other questions"
        different.append(CellDifference(cell, state, values, list(_reasons(before, now))))
    return equal, different


def _reasons(before: dict, now: dict) -> Iterator[str]:
    settings = list(differences(before.get("settings") or {}, now.get("settings") or {}))
    yield from settings[:_SETTINGS]
    if len(settings) > _SETTINGS:
        yield f"{len(settings) - _SETTINGS} more settings"
    read = {**now["inputs"], **before["inputs"]}
    names = [name for name in read if before["inputs"].get(name) != now["inputs"].get(name)]
    yield from (f"input: {name}" for name in dict.fromkeys(n.partition(",")[0] for n in names))
    for key in ("versions", "git_commit", "device"):
        yield from differences(before.get(key), now.get(key), key)


def _compare_scores(path: Path, other_path: Path, config: Config) -> dict:
    """Return the values of a CellDifference; {} if the runs have different questions."""
    scores, other_scores = _read_scores(path), _read_scores(other_path)
    measure = next(name for name in MEASURES if name in scores)
    before, now = scores[measure], other_scores[measure]
    if list(before.columns) != list(now.columns) or not before.isna().equals(now.isna()):
        return {}
    if before.isna().any(axis=None):  # a fold, in which each seed has its own questions
        tested = before.notna().to_numpy()
        before, now = (pd.DataFrame([by_seed.to_numpy()[tested]]) for by_seed in (before, now))
    names = str(path.parent), str(other_path.parent)
    level = significance_level(config.bootstrap)
    return {"measure": measure, **compare_systems(before, now, level, names)}


def _read_scores(path: Path) -> dict[str, pd.DataFrame]:
    """Return the scores of a run by measure; `path` is that of its record."""
    return scores_on_test(read_record(path), read_metrics(path.with_name("metrics.parquet")))


def build_leaderboard(
    results: str | Path, dataset: str, subset: str, measure: str, config: Config
) -> pd.DataFrame:
    """Return the systems that have run on a subset of a data set, the best first.

    The name of a system includes that of tuned hyperparameters. The columns are those of
    `rank_systems`.

    Raises AnalogyQAError when no system has run there.
    """
    values = _scores_by_system(results, dataset, subset, measure)
    if not values:
        raise AnalogyQAError(f"{results}: {_why_empty(results, dataset, subset, measure, config)}")
    return rank_systems(values, config.bootstrap)


def _scores_by_system(
    results: str | Path, dataset: str, subset: str, measure: str
) -> dict[str, pd.DataFrame]:
    """Return the scores [seeds, items] of each system without overrides, or tuned on dev."""
    values = {}
    for cell, name, path in find_systems(results):
        is_on_subset = (cell.dataset, cell.subset) == (dataset, subset)
        if is_on_subset and path.with_name("metrics.parquet").exists():
            by_measure = _read_scores(path)
            if measure in by_measure:
                values[name] = by_measure[measure]
    return values


def _why_empty(results: str | Path, dataset: str, subset: str, measure: str, config: Config) -> str:
    if reason := config.left_out.get(dataset):
        return f"{dataset} was left out: {reason}"
    runs = [path.split("/") for path in find_records(results)]
    known = {dataset: {run[1] for run in runs}, subset: {run[2] for run in runs}}
    known[measure] = {*MEASURES}
    unknown = [name for name, names in known.items() if name not in names]
    hint = nearest_hint(unknown[0], sorted(known[unknown[0]])) if unknown else ""
    return f"no run without overrides on {subset} of {dataset} has the measure {measure}{hint}"
