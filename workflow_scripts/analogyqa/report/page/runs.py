"""The runs in the report, and the time that the jobs took."""

import json
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from analogyqa.cells.cell import Cell, Settings
from analogyqa.cells.made import made_files
from analogyqa.cells.same_settings import differences
from analogyqa.errors import AnalogyQAError
from analogyqa.evaluation.summary import find_records, read_record
from analogyqa.report.table_formats import Block, Value
from analogyqa.report.trace import run_log
from analogyqa.settings.run import Config


class Run(NamedTuple):
    """A run: its path, its coordinates, its record, and the log of its job ("" for none).

    `other`: the settings in which it differs from the configuration, "" for none.
    """

    path: str
    label: str
    record: dict
    log: str
    other: str = ""


def read_run_records(results: Path, config: Config) -> list[Run]:
    """Return the runs in the results that the configuration can make, sorted by path.

    Runs of other papers may be in the same folder. Raises AnalogyQAError if a record is damaged.
    """
    runs = []
    for path in find_records(results).values():
        cell = Cell.from_path(path.parent)
        if (now := _settings_now(config, cell)) is None:
            continue
        record = read_record(path)
        path_of_log = run_log(results, cell)
        log = path_of_log.relative_to(results).as_posix() if path_of_log else ""
        other = ", ".join(islice(differences(record["settings"], now), 3))
        runs.append(Run(cell.path, cell.label, record, log, other))
    return runs


def _settings_now(config: Config, cell: Cell) -> Settings | None:
    if cell.system not in config.systems or cell.dataset not in config.datasets:
        return None
    try:
        return cell.settings(config)
    except (AnalogyQAError, ValueError):  # such as an override that the system does not have
        return None


def time_block(results: Path) -> Block:
    """Return how long the jobs of each rule took, the longest rule first.

    Each job has a file benchmarks/{rule}/**.jsonl with a line for each time that it ran. Lines that
    cannot be read, as an interrupted job may leave one, are skipped.
    """
    rows = []
    for folder in sorted((results / "benchmarks").glob("*/")):
        lines = [
            {"job": path.relative_to(folder).with_suffix("").as_posix(), **times}
            for path in made_files(results, f"benchmarks/{folder.name}/**/*.jsonl")
            for line in path.read_text(encoding="utf-8", errors="replace").splitlines()
            if (times := _read_times(line))
        ]
        if lines:
            rows.append((folder.name, pd.DataFrame(lines)))
    rows.sort(key=lambda row: -row[1]["s"].sum())
    total = sum(jobs["s"].sum() for _, jobs in rows)
    columns = ["Jobs", "Time", "Share", "CPU time", "Most memory", "Longest job"]
    return Block("", ["Rule"], columns, [([name], _times(jobs, total)) for name, jobs in rows])


def _read_times(line: str) -> dict | None:
    """Return the seconds, CPU time and memory in a line of a benchmark, None if it is damaged."""
    try:
        times = json.loads(line)
        return {"s": float(times["s"])} | {key: times[key] for key in ("cpu_time", "max_rss")}
    except (ValueError, KeyError, TypeError):
        return None


def _times(jobs: pd.DataFrame, total: float) -> list[Value]:
    longest = jobs.loc[jobs["s"].idxmax()]
    memory = pd.to_numeric(jobs["max_rss"], errors="coerce").max()
    cpu = pd.to_numeric(jobs["cpu_time"], errors="coerce").sum()
    texts = [
        str(jobs["job"].nunique()),
        duration(jobs["s"].sum()),
        f"{jobs['s'].sum() / total:.0%}" if total else "",
        duration(cpu),
        "" if pd.isna(memory) else f"{memory:,.0f} MB",
        f"{longest['job']}, {duration(longest['s'])}",
    ]
    return [Value(text) for text in texts]


def duration(seconds: float) -> str:
    """Return a time in words, such as 2 h 05 min."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60:02} min"


def commits_and_machines(runs: Iterable[Run]) -> str:
    """Return the commits of the runs, and the machines that trained them, in one line."""
    records = [run.record for run in runs]
    commits = dict.fromkeys(short_commit(record) for record in records)
    trained_on = machines(records)
    text = f"{len(records)} run{'s' * (len(records) != 1)} of commit {', '.join(commits)}"
    return f"{text}, trained on {trained_on}" if trained_on else text


def machines(records: Iterable[dict]) -> str:
    """Return the kinds of machines that trained, "" if nothing was trained."""
    kinds = {
        machine.get("gpu") or f"CPU ({machine['instructions']})"
        for record in records
        for of_seed in record["machines"].values()
        for machine in of_seed
    }
    return " and ".join(sorted(kinds))


def short_commit(record: dict) -> str:
    """Return the abbreviated commit of a record, with `-dirty` for uncommitted changes."""
    name, _, dirty = record["git_commit"].partition("-")
    return name[:12] + (f"-{dirty}" if dirty else "")
