"""What a run would submit to a cluster, and what earlier runs say it will cost.

Reads the listing that `snakemake --dry-run` prints, and the benchmark files and outputs of earlier
runs:

    snakemake --cores 8 --profile slurm --dry-run | python -m analogyqa.planning
"""

import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean
from typing import Literal, NamedTuple

from rich import box
from rich.console import Console
from rich.filesize import decimal
from rich.table import Table

from analogyqa.errors import AnalogyQAError

_GROUP = re.compile(r"Group job (\S+) \(jobs")
_RULE = re.compile(r"( *)(?:local)?rule (\w+):$")
_KEY = re.compile(r" +(output|benchmark|threads|resources): (.*)$")
_MARK = re.compile(r" \((?:update|touch|pipe|directory)\)$")

Basis = Literal["measured", "alike", "limit"]


@dataclass
class Job:
    """A step that is left to do.

    `minutes` is the time it asks a cluster for, None for a local one. Steps of one `group`, the
    name and number of it, are one job of the cluster.
    """

    rule: str
    group: tuple[str, int] | None
    outputs: list[str] = field(default_factory=list)
    benchmark: str | None = None
    threads: int = 1
    minutes: int | None = None
    gpus: int = 0


class Cost(NamedTuple):
    """CPU-hours and GPU-hours of a job, and what they were taken from.

    "measured": the same job ran before. "alike": the mean of the rule's jobs that ran before.
    "limit": none ran, so the time that it asks for stands in, which is the most it can take.
    """

    cpu_hours: float
    gpu_hours: float
    basis: Basis


def read_listing(text: str) -> list[Job]:
    """Return the jobs that a dry run lists.

    Raises AnalogyQAError for a text that is not such a listing: what Snakemake said instead is on
    the terminal.
    """
    jobs: list[Job] = []
    group, groups = None, 0
    for line in text.splitlines():
        if found := _GROUP.search(line):
            groups += 1
            group = (found[1], groups)
        elif found := _RULE.match(line):
            jobs.append(Job(found[2], group if found[1] else None))
        elif jobs and (found := _KEY.match(line)):
            _take(jobs[-1], *found.groups())
    if not jobs and "Nothing to be done" not in text:
        raise AnalogyQAError("no listing of jobs: the dry run failed; its message is above")
    return jobs


def _take(job: Job, key: str, value: str) -> None:
    if key == "output":
        job.outputs = [_MARK.sub("", file) for file in value.split(", ")]
    elif key == "benchmark":
        job.benchmark = value
    elif key == "threads":
        job.threads = int(value)
    else:
        resources = dict(part.partition("=")[::2] for part in value.split(", "))
        job.minutes = int(resources["runtime"]) if "runtime" in resources else None
        job.gpus = int(resources.get("gpu", 0))


def cluster_jobs(jobs: Iterable[Job]) -> Counter[str]:
    """Return rule or group to the number of jobs that the cluster gets."""
    submitted = [job for job in jobs if job.minutes is not None]
    groups = {job.group for job in submitted if job.group}
    return Counter([job.rule for job in submitted if not job.group]) + Counter(
        name for name, _ in groups
    )


class Earlier:
    """The benchmark files of earlier runs."""

    def __init__(self, jobs: Iterable[Job]) -> None:
        self._of_rule: dict[str, list[tuple[float, float]]] = {}
        folders = {(job.rule, _benchmarks_of_rule(job.benchmark)) for job in jobs if job.benchmark}
        for rule, folder in sorted(folders):
            ran = [_read_benchmark(path) for path in sorted(folder.rglob("*.jsonl"))]
            self._of_rule.setdefault(rule, []).extend(filter(None, ran))

    def cost(self, job: Job) -> Cost:
        """Return what a job of a rule that has benchmark files will cost."""
        own = _read_benchmark(Path(job.benchmark)) if job.benchmark else None
        alike = self._of_rule.get(job.rule, [])
        if own:
            seconds, cpu_seconds = own
        elif alike:
            seconds, cpu_seconds = (mean(column) for column in zip(*alike, strict=True))
        else:
            seconds = 60.0 * (job.minutes or 0)
            cpu_seconds = seconds * job.threads
        basis = "measured" if own else "alike" if alike else "limit"
        return Cost(cpu_seconds / 3600, job.gpus * seconds / 3600, basis)


def _benchmarks_of_rule(benchmark: str) -> Path:
    """Return the folder below `benchmarks` that a rule's files lie in."""
    parts = Path(benchmark).parts
    return Path(*parts[: parts.index("benchmarks") + 2])


def _read_benchmark(path: Path) -> tuple[float, float] | None:
    """Return the seconds and CPU-seconds of the last run, None where there is none to be read."""
    try:
        last = json.loads(path.read_text().splitlines()[-1])
        return float(last["s"]), float(last["cpu_time"])
    except (OSError, ValueError, IndexError, KeyError, TypeError):
        return None


def disk_bytes(jobs: Sequence[Job]) -> tuple[int, int]:
    """Return the bytes that the outputs will take, and the number of files of unknown size.

    A file that is there keeps its size; another has the mean of its rule's files of that suffix.
    """
    sizes: dict[tuple[str, str], list[int]] = defaultdict(list)
    unknown: list[tuple[str, str]] = []
    for job in jobs:
        for output in job.outputs:
            path = Path(output)
            kind = (job.rule, path.suffix)
            if path.is_file():
                sizes[kind].append(path.stat().st_size)
            else:
                unknown.append(kind)
    known = sum(map(sum, sizes.values()))
    guessed = sum(mean(sizes[kind]) for kind in unknown if kind in sizes)
    return round(known + guessed), sum(kind not in sizes for kind in unknown)


def print_plan(jobs: Sequence[Job]) -> None:
    """Print a row for each rule, the totals, and where the costs are guesses."""
    if not jobs:
        print("Nothing to be done: every table and figure is there.")
        return
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("rule")
    for title in ("steps", "Slurm jobs", "CPU-hours", "GPU-hours"):
        table.add_column(title, justify="right")
    table.add_column("from")
    earlier, submitted = Earlier(jobs), cluster_jobs(jobs)
    total, guessed = [0.0, 0.0], []
    by_rule: dict[str, list[Job]] = defaultdict(list)
    for job in jobs:
        by_rule[job.rule].append(job)
    for rule, own in by_rule.items():
        if own[0].minutes is None:
            table.add_row(rule, str(len(own)), "local")
            continue
        costs = [earlier.cost(job) for job in own]
        cpu, gpu = (sum(cost[place] for cost in costs) for place in (0, 1))
        total = [total[0] + cpu, total[1] + gpu]
        bases = Counter(cost.basis for cost in costs)
        if bases["limit"]:
            guessed.append(rule)
        table.add_row(
            rule,
            str(len(own)),
            f"in {own[0].group[0]}" if own[0].group else str(submitted[rule]),
            _hours(cpu, bases["limit"]),
            _hours(gpu, bases["limit"]) if gpu else "",
            ", ".join(f"{number} {basis}" for basis, number in bases.items()),
        )
    for group in sorted({job.group[0] for job in jobs if job.group}):
        table.add_row(f"group {group}", "", str(submitted[group]))
    table.add_section()
    hours = [_hours(value, len(guessed)) for value in total]
    table.add_row("total", str(len(jobs)), str(submitted.total()), *hours)
    Console(width=100).print(table)
    size, unknown = disk_bytes(jobs)
    print(f"disk: {decimal(size)}" + (f" and {unknown} files of unknown size" if unknown else ""))
    print("measured: the same job ran before; alike: the mean of the rule's jobs that ran before")
    if guessed:
        print(f"limit: a guess, no job of {', '.join(guessed)} ran here: the time it asks for")


def _hours(value: float, at_most: int) -> str:
    return f"{'<= ' if at_most else ''}{value:.2f}"


if __name__ == "__main__":
    try:
        print_plan(read_listing(sys.stdin.read()))
    except AnalogyQAError as error:
        sys.exit(f"error: {error}")
