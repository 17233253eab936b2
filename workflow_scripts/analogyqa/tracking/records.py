"""Turn run records into the runs that MLflow shows."""

import getpass
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from analogyqa.errors import AnalogyQAError
from analogyqa.measures import MEASURES, values_by_seed
from analogyqa.plan import Cell
from analogyqa.runs.depends_on import content_hash, sha256
from analogyqa.schemas import CORPUS, HISTORY, METRICS, SPLITS, read_table
from analogyqa.settings.analogies import SOLVER
from analogyqa.settings.overrides import to_text

_REPORTS = ("summary", "ledger", "claims", "comparisons")
_INTERVALS = ("run_low", "run_high", "ci_low", "ci_high")
# MLflow's names for the role of data, by split.
_CONTEXTS = {"train": "training", "dev": "validation", "test": "test"}


class Imported(NamedTuple):
    """What an experiment holds after an import.

    Attributes:
        cells, seeds: The numbers of imported cells and seeds.
        files: The number of tables, figures and reports.
        added: How many of the runs are new.
        content_hash: The hash of the content of all runs.
    """

    cells: int
    seeds: int
    files: int
    added: int
    content_hash: str


class Data(NamedTuple):
    """A split of a corpus as MLflow shows it; `rows` is their number, `context` its role."""

    name: str
    digest: str
    source: str
    rows: int
    context: str


@dataclass
class Run:
    """A run as MLflow shows it.

    Attributes:
        start, end: Times in milliseconds since 1970.
        curves: Points for each epoch, as tuples of mlflow's Metric.
        metrics: The final values; names of dev values begin with `dev_`.
        files: Files by the names of their artifacts.
        texts: The contents of further artifacts, by name.
        logs: Files about how it ran, which differ between runs with the same content.
        chosen_epoch: The epoch that dev chose, for a run that is trained.
    """

    name: str
    tags: dict[str, str]
    start: int
    end: int
    params: dict[str, str] = field(default_factory=dict)
    curves: list[tuple[str, float, int, int]] = field(default_factory=list)
    metrics: dict[str, float] = field(default_factory=dict)
    files: dict[str, Path] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    logs: dict[str, Path] = field(default_factory=dict)
    data: list[Data] = field(default_factory=list)
    chosen_epoch: int | None = None
    children: list["Run"] = field(default_factory=list)

    @property
    def identity(self) -> str:
        """The hash of everything that is shown, except times, which come from files."""
        return content_hash(
            {
                "shown": [self.name, self.tags, self.params, self.metrics, self.texts, self.data],
                "curves": [[name, value, step] for name, value, _, step in self.curves],
                "chosen_epoch": self.chosen_epoch,
                "files": {name: sha256(path) for name, path in self.files.items()},
                "children": [child.identity for child in self.children],
            }
        )


def cell_run(
    results: Path, cell: Cell, description: str = "", intervals: Mapping[str, dict] | None = None
) -> Run:
    """Return the run of a cell, with its seeds as children.

    MLflow needs times: a run ends when its record was written, and started `wall_seconds` before.

    Args:
        results: The output folder.
        cell: A cell that has run.
        description: What the run is for, in Markdown.
        intervals: The row of each measure in the summary.

    Raises AnalogyQAError when a record or a table is damaged.
    """
    folder = results / "runs" / cell.path
    record = _read_record(folder / "run.json")
    settings, trained = record["settings"], (folder / "history.parquet").exists()
    end = _modified(folder / "run.json")
    start = end - round(1000 * (record.get("wall_seconds") or 0))
    script = "train_encoder" if trained else "score_candidates"
    if SOLVER in dict(cell.overrides):
        script = "solve_analogies"
    if settings["system"]["ranker"].get("parts"):
        script = "fuse_scores"
    tags = {
        **cell_tags(results, cell),
        "content_hash": record["content_hash"],
        "hyperparameters": settings.get("hyperparameters"),
        "device": record.get("device"),
        "mlflow.source.name": f"workflow_scripts/{script}.py",
        "mlflow.source.type": "JOB",
        "mlflow.source.git.commit": record.get("git_commit"),
        "mlflow.user": getpass.getuser(),
    }
    tags = {key: str(value) for key, value in tags.items() if value is not None}
    params = cell_params(cell) | _flatten(settings)
    metrics = read_table(folder / "metrics.parquet", METRICS)
    measured = _measured(metrics)
    deviation = measured.std(ddof=1).fillna(0).add_suffix("_sd")
    ends = {
        f"{measure}_{name}": row[name]
        for measure, row in (intervals or {}).items()
        for name in _INTERVALS
        if pd.notna(row[name])
    }
    name = run_name(cell)
    run = Run(name, tags | {"mlflow.note.content": description}, start, end)
    run.params = {**params, "seeds": ", ".join(map(str, record["seeds"]))}
    run.metrics = {**measured.mean(), **deviation, **ends}
    stem = "-".join([cell.dataset, cell.subset, to_text(cell.overrides)])
    log = results / "logs" / script / cell.system / f"{stem}.log"
    run.logs = {path.name: path for path in (folder / "run.json", log) if path.exists()}
    run.data = _load_data(results, cell, settings.get("sources") or {})
    history = read_table(folder / "history.parquet", HISTORY) if trained else None
    for seed, values in measured.iterrows():
        child = Run(f"seed {seed}, {name}", tags, start, end, {**params, "seed": str(seed)})
        child.data, child.metrics = run.data, dict(values)
        child.texts["questions.csv"] = _by_question(metrics, seed)
        if history is not None:
            epochs = history[history["seed"] == seed].sort_values("epoch", kind="stable")
            _add_epochs(child, epochs, settings["training"]["select_by"])
        run.children.append(child)
    return run


def _add_epochs(run: Run, epochs: pd.DataFrame, select_by: str) -> None:
    """Add the end, the curves, the history and the chosen epoch to the run of a seed."""
    seconds = epochs[epochs["measure"] == "seconds"].set_index("epoch")["value"]
    times = run.start + (1000 * seconds.cumsum()).round().astype(int)
    run.end, run.curves = int(times.max()), curve_points(epochs, times)
    by_epoch = epochs.astype({"measure": str}).pivot(
        index="epoch", columns="measure", values="value"
    )
    run.texts["history.csv"] = by_epoch.to_csv()
    # idxmax returns the first of equal epochs, as training does.
    run.chosen_epoch = int(by_epoch[f"dev_{select_by}"].idxmax())


def documents_run(results: Path, paper: str) -> Run | None:
    """Return the run with the tables, figures and reports of a paper, None if there are none."""
    patterns = [f"{kind}s/{paper}/*" for kind in ("table", "figure")]
    paths = [path for pattern in patterns for path in sorted(results.glob(pattern))]
    if not paths:
        return None
    paths += [path for name in _REPORTS for path in sorted(results.glob(f"{name}.*"))]
    files = {path.relative_to(results).as_posix(): path for path in paths}
    end = max(map(_modified, paths))
    tags = {"record": f"{folder_label(results)}/{paper}", "mlflow.user": getpass.getuser()}
    tags |= {"mlflow.source.name": "Snakefile", "mlflow.source.type": "JOB"}
    return Run("tables and figures", tags, end, end, files=files)


def _read_record(path: Path) -> dict:
    """Read a run record; raises AnalogyQAError when the file is not one."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        record["settings"].get("hyperparameters"), record["seeds"], record["content_hash"]
        Cell.from_record(record["cell"])
        return record
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise AnalogyQAError(
            f"{path}: not a run record ({error!r}). "
            "Delete it, then run the same command again to rebuild it."
        ) from error


def folder_label(results: str | Path) -> str:
    """Return the name of an output folder, which starts the names of its experiments."""
    return Path(results).resolve().name


def experiment_name(results: str | Path, paper: str) -> str:
    """Return the name of the experiment with the runs of a paper."""
    return f"{folder_label(results)}/{paper}"


def run_name(cell: Cell) -> str:
    """Return the name of a run; the data set comes last, because MLflow truncates names."""
    return " ".join([cell.system, cell.subset, *map("=".join, cell.overrides), cell.dataset])


def cell_params(cell: Cell) -> dict[str, str]:
    """Return a cell as MLflow parameters."""
    return {**cell._asdict(), "overrides": to_text(cell.overrides)}


def cell_tags(results: str | Path, cell: Cell) -> dict[str, str]:
    """Return the tag that identifies the runs of a cell's record, in any checkout."""
    return {"record": f"{folder_label(results)}/{cell.path}"}


def _measured(metrics: pd.DataFrame) -> pd.DataFrame:
    """Return means over items: a row for each seed, columns map, ... (test) and dev_map, ..."""
    table = metrics.astype({"split": str})
    return pd.DataFrame(
        {
            name if split == "test" else f"{split}_{name}": values.mean(axis=1)
            for split in sorted(table["split"].unique())
            for name, values in sorted(values_by_seed(table, split).items())
            if name in MEASURES
        }
    )


def _by_question(metrics: pd.DataFrame, seed: int) -> str:
    """Return a seed's test split as CSV: a row for each question, a column for each measure."""
    test = metrics[(metrics["seed"] == seed) & (metrics["split"] == "test")]
    test = test.astype({"measure": str, "group": str})
    wide = test.pivot(index=["item", "group"], columns="measure", values="value")
    return wide.to_csv(float_format="%.6g")


def _load_data(results: Path, cell: Cell, sources: Mapping[str, str]) -> list[Data]:
    """Return the splits of a cell's corpus; none if there is no corpus file."""
    path = results / "corpora" / f"{cell.corpus}.parquet"
    if not path.exists():
        return []
    digest, rows = _corpus(path, path.stat().st_mtime_ns)
    return [
        Data(f"{cell.corpus} {split}", digest, sources.get(split, ""), rows[split], context)
        for split, context in _CONTEXTS.items()
    ]


@cache
def _corpus(path: Path, modified: int) -> tuple[str, dict[str, int]]:
    """Return the digest of a corpus and the number of pairs in each split.

    Cached, because many cells share a corpus; `modified` makes a rewritten file count as another.
    """
    counts = read_table(path, CORPUS)["split"].value_counts()
    return sha256(path)[:16], {split: int(counts.get(split, 0)) for split in SPLITS}


def curve_points(epochs: pd.DataFrame, times: pd.Series) -> list[tuple[str, float, int, int]]:
    """Return the loss and the dev measures of each epoch as points of curves.

    Names begin with `epoch/`, which keeps them apart from final values such as dev_map.

    Args:
        epochs: Rows of HISTORY.
        times: The time of each epoch.
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


def first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]


def _modified(path: Path) -> int:
    return path.stat().st_mtime_ns // 1_000_000
