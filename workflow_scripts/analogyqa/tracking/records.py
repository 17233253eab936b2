"""From the records of a run to what MLflow shall show."""

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from analogyqa.errors import AnalogyQAError
from analogyqa.measures import MEASURES, values_by_seed
from analogyqa.plan import Cell
from analogyqa.runs.depends_on import content_hash, sha256
from analogyqa.schemas import HISTORY, METRICS, read_table
from analogyqa.settings.axes import to_text

_REPORTS = ("summary", "ledger", "claims", "comparisons")
_IDENTITY = ("content_hash", "metrics_sha256")


class Imported(NamedTuple):
    """What a tracking store holds after an import.

    `cells`, `seeds` and `files` (tables, figures, ledger) count what was asked for, `added` how
    many of the runs above were not there before; the hash is of the content of them all.
    """

    cells: int
    seeds: int
    files: int
    added: int
    content_hash: str


@dataclass
class Run:
    """A run as MLflow shall show it; times in milliseconds since 1970."""

    name: str
    tags: dict[str, str]
    start: int
    end: int
    params: dict[str, str] = field(default_factory=dict)
    metrics: list[tuple[str, float, int, int]] = field(default_factory=list)  # of mlflow's Metric
    files: dict[str, Path] = field(default_factory=dict)  # by their names among the artifacts
    children: list["Run"] = field(default_factory=list)


def cell_run(record_path: Path, metrics_path: Path, results: Path) -> Run:
    """Return the run of one cell, its seeds as children.

    MLflow wants times; the record ends when its file was written, `wall_seconds` after the start.
    """
    record = _read_record(record_path)
    cell, settings = record["cell"], record["settings"]
    end = _modified(record_path)
    start = end - round(1000 * (record.get("wall_seconds") or 0))
    tags = {
        **tags_of(results, cell),
        "setting": settings.get("setting"),
        "content_hash": record["content_hash"],
        "metrics_sha256": sha256(metrics_path),
        "git_commit": record.get("git_commit"),
        "device": record.get("device"),
        "scores": os.path.relpath(record_path.with_name("scores.parquet"), results),
    }
    tags = {key: str(value) for key, value in tags.items() if value is not None}
    params = _flatten(settings)
    measured = _measured(metrics_path)
    deviation = measured.std(ddof=1).fillna(0).add_suffix("_sd")
    run = Run(cell.label, tags, start, end, files={record_path.name: record_path})
    run.params = {**params, "seeds": ", ".join(map(str, record["seeds"]))}
    run.metrics = _finals(pd.concat([measured.mean(), deviation]), end)
    history_path = record_path.with_name("history.parquet")
    history = read_table(history_path, HISTORY) if history_path.exists() else None
    for seed, values in measured.iterrows():
        child = Run(f"seed {seed}", tags, start, end, {**params, "seed": str(seed)})
        if history is not None:
            epochs = history[history["seed"] == seed].sort_values("epoch", kind="stable")
            seconds = epochs[epochs["measure"] == "seconds"].set_index("epoch")["value"]
            times = start + (1000 * seconds.cumsum()).round().astype(int)
            child.end = int(times.max())
            child.metrics = curve_points(epochs, times)
        child.metrics += _finals(values, child.end)
        run.children.append(child)
    return run


def documents_run(experiment: str, results: Path) -> Run | None:
    """Return the run that carries the tables, figures and reports, None when there are none."""
    patterns = ["tables/*/*", "figures/*/*", *(f"{name}.*" for name in _REPORTS)]
    paths = [path for pattern in patterns for path in sorted(results.glob(pattern))]
    if not paths:
        return None
    files = {path.relative_to(results).as_posix(): path for path in paths}
    hashes = {name: sha256(path) for name, path in files.items()}
    end = max(map(_modified, paths))
    record = f"{experiment_of(results)}/{experiment}"
    tags = {"record": record, "content_hash": content_hash(hashes)}
    return Run("tables and figures", tags, end, end, files=files)


def _read_record(path: Path) -> dict:
    """Return a record, its cell as a `Cell`; raises AnalogyQAError for a file that is none."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        record["settings"], record["seeds"], record["content_hash"]
        return {**record, "cell": Cell.from_record(record["cell"])}
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise AnalogyQAError(
            f"{path}: not a run record ({error!r}). "
            "Delete it, then run the same command again to rebuild it."
        ) from error


def experiment_of(results: str | Path) -> str:
    """Return the name of the experiment that the runs of an output folder are in."""
    return Path(results).resolve().name


def tags_of(results: str | Path, cell: Cell) -> dict[str, str]:
    """Return what the runs of one record have in common, whichever checkout it lies in."""
    record = f"{experiment_of(results)}/{cell.path}"
    return {"record": record, **cell._asdict(), "axes": to_text(cell.axes)}


def _measured(metrics_path: Path) -> pd.DataFrame:
    """Return the mean over items: a row a seed, columns test_map, test_mrr, dev_map, ..."""
    table = read_table(metrics_path, METRICS).astype({"split": str})
    return pd.DataFrame(
        {
            f"{split}_{name}": values.mean(axis=1)
            for split in sorted(table["split"].unique())
            for name, values in sorted(values_by_seed(table, split).items())
            if name in MEASURES
        }
    )


def _finals(values: pd.Series, time: int) -> list[tuple[str, float, int, int]]:
    return [(name, float(value), time, 0) for name, value in values.items()]


def curve_points(epochs: pd.DataFrame, times: pd.Series) -> list[tuple[str, float, int, int]]:
    """Return a point per epoch and curve, apart by name from the final dev_map and so on.

    Args:
        epochs: rows of HISTORY; the curves are the loss and the measures of dev.
        times: epoch to its time.
    """
    curves = epochs[epochs["measure"].astype(str).str.match(r"loss$|dev_")]
    return [
        (f"epoch/{row.measure}", float(row.value), int(times[row.epoch]), int(row.epoch))
        for row in curves.itertuples()
        if pd.notna(row.value)
    ]


def _flatten(settings: dict, prefix: str = "") -> dict[str, str]:
    flat = {}
    for key, value in settings.items():
        if isinstance(value, dict):
            flat |= _flatten(value, f"{prefix}{key}.")
        elif value is not None:
            flat[prefix + key] = str(value)
    return flat


def identity_of(tags: dict[str, str]) -> list[str | None]:
    return [tags.get(key) for key in _IDENTITY]


def first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]


def _modified(path: Path) -> int:
    return path.stat().st_mtime_ns // 1_000_000
