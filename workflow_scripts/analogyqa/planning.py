"""What a run would submit to a cluster, and what earlier runs say it will cost.

Reads a dry run's listing, and the benchmark files and outputs of earlier runs:

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
from typing import NamedTuple

from rich import box
from rich.console import Console
from rich.filesize import decimal
from rich.table import Column, Table

from analogyqa.errors import AnalogyQAError

_GROUP = re.compile(r"Group job (\S+) \(jobs")
_RULE = re.compile(r"( *)(?:local)?rule (\w+):$")
_KEY = re.compile(r" +(output|benchmark|threads|resources): (.*)$")
_NEED = re.compile(r"\b(runtime|gpu)=(\d+)")
_MARK = re.compile(r" \((?:update|touch|pipe|directory)\)$")


@dataclass
class Job:
    """A step that is left to do; those of one `group`, its name and number, are one cluster job.

    `minutes` is the time it asks a cluster for, None for a local one.
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
    "limit": none ran; the most that it can take, the time that it asks for.
    """

    cpu_hours: float
    gpu_hours: float
    basis: str


def read_listing(text: str) -> list[Job]:
    """Return the jobs that a dry run lists; raises AnalogyQAError for any other text."""
    jobs: list[Job] = []
    group, groups = None, 0
    for line in text.splitlines():
        if found := _GROUP.search(line):
            groups += 1
            group = (found[1], groups)
        elif found := _RULE.match(line):
            jobs.append(Job(found[2], group if found[1] else None))
        elif jobs and (found := _KEY.match(line)):
            job, key, value = jobs[-1], *found.groups()
            if key == "output":
                job.outputs = [_MARK.sub("", file) for file in value.split(", ")]
            elif key == "resources":
                needs = {name: int(number) for name, number in _NEED.findall(value)}
                job.minutes, job.gpus = needs.get("runtime"), needs.get("gpu", 0)
            else:
                setattr(job, key, int(value) if key == "threads" else value)
    if not jobs and "Nothing to be done" not in text:
        raise AnalogyQAError("no listing of jobs: the dry run failed; its message is above")
    return jobs


def cluster_jobs(jobs: Iterable[Job]) -> Counter[str]:
    """Return rule or group to the number of jobs that the cluster gets."""
    submitted = [job for job in jobs if job.minutes is not None]
    alone = [job.rule for job in submitted if not job.group]
    return Counter([*alone, *(name for name, _ in {job.group for job in submitted} - {None})])


class Earlier:
    """The benchmark files of earlier runs."""

    def __init__(self, jobs: Iterable[Job]) -> None:
        self._of_rule: dict[str, list[tuple[float, float]]] = {}
        for rule, benchmark in {job.rule: job.benchmark for job in jobs if job.benchmark}.items():
            parts = Path(benchmark).parts  # a rule's files lie in one folder below `benchmarks`
            files = sorted(Path(*parts[: parts.index("benchmarks") + 2]).rglob("*.jsonl"))
            self._of_rule[rule] = [*filter(None, map(_read_benchmark, files))]

    def cost(self, job: Job) -> Cost:
        """Return what a job will cost."""
        own = _read_benchmark(Path(job.benchmark)) if job.benchmark else None
        limit = 60.0 * (job.minutes or 0)
        ran = [own] if own else self._of_rule.get(job.rule)
        seconds, cpu_seconds = map(mean, zip(*(ran or [(limit, limit * job.threads)]), strict=True))
        basis = "measured" if own else "alike" if ran else "limit"
        return Cost(cpu_seconds / 3600, job.gpus * seconds / 3600, basis)


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
    files = [(job.rule, Path(output)) for job in jobs for output in job.outputs]
    absent = Counter((rule, path.suffix) for rule, path in files if not path.is_file())
    sizes: dict[tuple[str, str], list[int]] = defaultdict(list)
    for rule, path in files:
        if path.is_file():
            sizes[rule, path.suffix].append(path.stat().st_size)
    total = sum(sum(known) + absent[kind] * mean(known) for kind, known in sizes.items())
    return round(total), sum(number for kind, number in absent.items() if kind not in sizes)


def print_plan(jobs: Sequence[Job]) -> None:
    """Print a row for each rule, the totals, and where the costs are guesses."""
    if not jobs:
        print("Nothing to be done: every table and figure is there.")
        return
    titles = ("steps", "Slurm jobs", "CPU-hours", "GPU-hours")
    columns = (Column(title, justify="right") for title in titles)
    table = Table("rule", *columns, "from", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    earlier, submitted = Earlier(jobs), cluster_jobs(jobs)
    everything, guessed = [], []
    for rule in dict.fromkeys(job.rule for job in jobs):
        own = [job for job in jobs if job.rule == rule]
        if own[0].minutes is None:
            table.add_row(rule, str(len(own)), "local")
            continue
        costs = [earlier.cost(job) for job in own]
        bases = Counter(cost.basis for cost in costs)
        everything += costs
        guessed += [rule] * ("limit" in bases)
        place = f"in {own[0].group[0]}" if own[0].group else str(submitted[rule])
        cpu, gpu = _hours(costs)
        basis = ", ".join(f"{number} {basis}" for basis, number in bases.items())
        table.add_row(rule, str(len(own)), place, cpu, gpu if own[0].gpus else "", basis)
    for group in sorted({job.group[0] for job in jobs if job.group}):
        table.add_row(f"group {group}", "", str(submitted[group]))
    table.add_section()
    table.add_row("total", str(len(jobs)), str(submitted.total()), *_hours(everything))
    Console(width=100).print(table)
    size, unknown = disk_bytes(jobs)
    print(f"disk: {decimal(size)}" + (f" and {unknown} files of unknown size" if unknown else ""))
    print("measured: the same job ran before; alike: the mean of the rule's jobs that ran before")
    if guessed:
        print(f"limit: a guess, no job of {', '.join(guessed)} ran here: the time it asks for")


def _hours(costs: Sequence[Cost]) -> list[str]:
    """Return the CPU-hours and the GPU-hours of jobs; a guess makes them the most that it takes."""
    sign = "<= " if any(cost.basis == "limit" for cost in costs) else ""
    return [f"{sign}{sum(cost[place] for cost in costs):.2f}" for place in (0, 1)]


if __name__ == "__main__":
    try:
        print_plan(read_listing(sys.stdin.read()))
    except AnalogyQAError as error:
        sys.exit(f"error: {error}")
