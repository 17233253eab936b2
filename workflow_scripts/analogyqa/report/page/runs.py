"""What the report says of the runs: their records and logs, and where the time went."""

import json
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from analogyqa.errors import AnalogyQAError
from analogyqa.plan import Cell
from analogyqa.plan.configured import configured_cell, differences
from analogyqa.report.table_formats import Block, Value
from analogyqa.runs.commit import UNKNOWN
from analogyqa.settings.run import Config


class Run(NamedTuple):
    """A run: its path, its coordinates, its record, and the log of its job ("" for none).

    `other` says what it was made with that is not as configured, "" when all is.
    """

    path: str
    label: str
    record: dict
    log: str
    other: str = ""


def read_run_records(results: Path, config: Config) -> list[Run]:
    """Return every run that is there, by path, compared with the configuration.

    Raises AnalogyQAError when a record is damaged.
    """
    logs = {
        (path.parent.name, path.stem): path.relative_to(results).as_posix()
        for folder in ("train_encoder", "score_candidates", "fuse_scores", "solve_analogies")
        for path in (results / "logs" / folder).glob("*/*.log")
    }
    runs = []
    for path in sorted((results / "runs").glob("*/*/*/*/run.json")):
        cell = Cell.from_path(path.parent)
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise AnalogyQAError(
                f"{path}: cannot be read: {error}. "
                "Delete it, then run the same command again to rebuild it."
            ) from error
        log = logs.get((cell.system, "-".join(cell.path.split("/")[1:])), "")
        runs.append(Run(cell.path, cell.label, record, log, _other_settings(record, cell, config)))
    return runs


def _other_settings(record: dict, cell: Cell, config: Config) -> str:
    if cell.system not in config.systems or cell.dataset not in config.datasets:
        return "not in the configuration"
    try:
        now = configured_cell(config, cell)
    except (AnalogyQAError, ValueError):  # such as an override that the system does not have
        return "not in the configuration"
    return ", ".join(islice(differences(record.get("configured") or {}, now), 3))


def time_block(results: Path) -> Block:
    """Return how long the jobs of each rule took, the longest rule first.

    Each job has a file benchmarks/{rule}/**.jsonl with a line for each time that it ran.
    """
    rows = []
    for folder in sorted((results / "benchmarks").glob("*/")):
        own = [
            json.loads(line) | {"job": path.relative_to(folder).with_suffix("").as_posix()}
            for path in sorted(folder.rglob("*.jsonl"))
            for line in path.read_text(encoding="utf-8").splitlines()
        ]
        if own:
            rows.append((folder.name, pd.DataFrame(own)))
    rows.sort(key=lambda row: -row[1]["s"].sum())
    whole = sum(own["s"].sum() for _, own in rows)
    columns = ["Jobs", "Time", "Share", "CPU time", "Most memory", "Longest job"]
    return Block("", ["Rule"], columns, [([name], _times(own, whole)) for name, own in rows])


def _times(own: pd.DataFrame, whole: float) -> list[Value]:
    longest = own.loc[own["s"].idxmax()]
    memory = pd.to_numeric(own["max_rss"], errors="coerce").max()
    cpu = pd.to_numeric(own["cpu_time"], errors="coerce").sum()
    texts = [
        str(own["job"].nunique()),
        duration(own["s"].sum()),
        f"{own['s'].sum() / whole:.0%}" if whole else "",
        duration(cpu),
        "" if pd.isna(memory) else f"{memory:,.0f} MB",
        f"{longest['job']}, {duration(longest['s'])}",
    ]
    return [Value(text) for text in texts]


def duration(seconds: float) -> str:
    """Return a time as people say it, such as 2 h 05 min."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60:02} min"


def logs_by_rule(results: Path) -> dict[str, list[tuple[str, str]]]:
    """Return rule to its jobs, each with the path of its log below the results."""
    logs: dict[str, list[tuple[str, str]]] = {}
    for path in sorted((results / "logs").rglob("*.log")):
        below = path.relative_to(results / "logs")
        rule = below.parts[0] if len(below.parts) > 1 else below.stem
        name = Path(*below.parts[1:]).with_suffix("").as_posix() if len(below.parts) > 1 else rule
        logs.setdefault(rule, []).append((name, path.relative_to(results).as_posix()))
    return logs


def original_split(runs: Iterable[Run]) -> str:
    """Return the commits and machines of the records in one line."""
    records = [run.record for run in runs]
    commits = dict.fromkeys(short_commit(record) for record in records)
    platforms = dict.fromkeys(str(record.get("platform")) for record in records)
    return f"{len(records)} runs of commit {', '.join(commits)} on {', '.join(platforms)}"


def short_commit(record: dict) -> str:
    """Return the first letters of a record's commit, and whether the code was changed since it."""
    name, _, dirty = (record.get("git_commit") or UNKNOWN).partition("-")
    return name[:12] + (f"-{dirty}" if dirty else "")
