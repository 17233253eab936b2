"""Compare two results folders, cell by cell."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from analogyqa.cells.same_settings import differences
from analogyqa.errors import AnalogyQAError
from analogyqa.evaluation.comparing import compare_runs, p_value_of, round_comparison
from analogyqa.evaluation.summary import DECIMALS, find_records, read_record, scores_on_test
from analogyqa.measures import MEASURES
from analogyqa.runs.record import read_metrics
from analogyqa.settings.run import Config

ONLY_FIRST, ONLY_SECOND = "only in the first", "only in the second"
_SETTINGS = 5  # the number of differing settings that are named


class CellDifference(NamedTuple):
    """A cell whose results differ between two folders, or that only one of them has.

    Attributes:
        cell: Its path below runs/.
        state: "only in the first", "only in the second", "other questions" or "compared".
        values: The first measure that the cell has, both means (`first`, `second`), their
            `difference` (second minus first) with its interval (`low`, `high`) and the two-sided
            `p_value`; empty unless compared.
        because: The settings, inputs, versions and commits that differ.
    """

    cell: str
    state: str
    values: dict
    because: list[str]


def compare_folders(
    first: str | Path, second: str | Path, config: Config
) -> tuple[int, list[CellDifference]]:
    """Return the number of cells with equal scores in both folders, and all other cells.

    Args:
        first, second: The output folders.
        config: A configuration, for the confidence of intervals.

    Raises AnalogyQAError when a folder has no run, or a damaged one.
    """
    runs = [find_records(folder) for folder in (first, second)]
    for folder, cells in zip((first, second), runs, strict=True):
        if not cells:
            raise AnalogyQAError(
                f"{folder}: it has no run. Name the output folder of a run, such as results/demo"
            )
    equal, different = 0, []
    for cell in dict.fromkeys([*runs[0], *runs[1]]):
        if cell not in runs[1]:
            different.append(CellDifference(cell, ONLY_FIRST, {}, []))
        elif cell not in runs[0]:
            different.append(CellDifference(cell, ONLY_SECOND, {}, []))
        else:
            paths = runs[0][cell], runs[1][cell]
            before, now = map(read_record, paths)
            if before["scores"] == now["scores"]:
                equal += 1
            else:
                because = list(_reasons(before, now))
                different.append(_compared(cell, paths, (before, now), because, config))
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


def _compared(
    cell: str,
    paths: tuple[Path, Path],
    records: tuple[dict, dict],
    because: list[str],
    config: Config,
) -> CellDifference:
    values = [
        scores_on_test(record, read_metrics(path.with_name("metrics.parquet")))
        for record, path in zip(records, paths, strict=True)
    ]
    measure = next(name for name in MEASURES if name in values[0])
    before, now = (by_measure[measure] for by_measure in values)
    if list(before.columns) != list(now.columns):
        return CellDifference(cell, "other questions", {}, because)
    names = str(paths[1].parent), str(paths[0].parent)
    compared = round_comparison(compare_runs(names, now, before, config))
    means = {
        "first": round(float(before.to_numpy().mean()), DECIMALS),
        "second": round(float(now.to_numpy().mean()), DECIMALS),
    }
    tested = {name: compared[name] for name in ("difference", "low", "high")}
    facts = {"measure": measure} | means | tested | {"p_value": p_value_of(compared)}
    return CellDifference(cell, "compared", facts, because)
