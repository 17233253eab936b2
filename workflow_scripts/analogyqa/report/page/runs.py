"""The runs in the report, and the time that the jobs took."""

import json
from collections.abc import Iterable
from contextlib import suppress
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
        log_path = run_log(results, cell)
        log = log_path.relative_to(results).as_posix() if log_path else ""
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

    Each job has a file benchmarks/{rule}/**.jsonl with a line for each time that it ran.
    """
    rows = []
    for path in made_files(results, "benchmarks/*/**/*.jsonl"):
        name = path.relative_to(results / "benchmarks").with_suffix("").as_posix()
        rule, _, job = name.partition("/")
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            # An interrupted job may leave a line that cannot be read.
            with suppress(ValueError, KeyError, TypeError):
                times = json.loads(line)
                seconds, cpu, memory = times["s"], times["cpu_time"], times["max_rss"]
                rows.append((rule, job, float(seconds), cpu, memory))
    jobs = pd.DataFrame(rows, columns=["rule", "job", "seconds", "cpu", "memory"])
    total = jobs["seconds"].sum()
    lines = []
    for rule, part in sorted(jobs.groupby("rule"), key=lambda item: -item[1]["seconds"].sum()):
        longest = part.loc[part["seconds"].idxmax()]
        memory = pd.to_numeric(part["memory"], errors="coerce").max()
        texts = [
            str(part["job"].nunique()),
            duration(part["seconds"].sum()),
            f"{part['seconds'].sum() / total:.0%}" if total else "",
            duration(pd.to_numeric(part["cpu"], errors="coerce").sum()),
            "" if pd.isna(memory) else f"{memory:,.0f} MB",
            f"{longest['job']}, {duration(longest['seconds'])}",
        ]
        lines.append(([str(rule)], list(map(Value, texts))))
    columns = ["Jobs", "Time", "Share", "CPU time", "Most memory", "Longest job"]
    return Block("", ["Rule"], columns, lines)


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
