"""What a run would submit to a cluster, and what earlier runs say it will cost.

Reads a dry run's listing, and the benchmark files and outputs of earlier runs:

    snakemake --cores 8 --profile slurm --dry-run | python -m analogyqa.planning
"""

import csv
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean
from typing import NamedTuple

import typer
from rich import box
from rich.console import Console
from rich.filesize import decimal
from rich.table import Column, Table

from analogyqa.errors import AnalogyQAError
from analogyqa.plan import Cell
from analogyqa.settings.base import AT
from analogyqa.settings.load import REPOSITORY, read_config

CONFIG_OPTION = typer.Option("config.yaml", help="The configuration of the run.")
REFERENCE = REPOSITORY / "benchmarks" / "timings.csv"
TRAINING = "train_encoder"
_OF_A_CORPUS = ("corpora", "vectors", "sentence_vectors", "prototypes", "quadruples", "lemmas")
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
    """CPU-hours and GPU-hours of a job, the bytes of its outputs, and what they were taken from.

    "measured": the same job ran before. "reference": the mean of those of its rule and place that
    were timed for this repository. "alike": the mean of its rule's jobs that ran before. "rough":
    the mean of its rule's reference. "unknown": there is none, and nothing is counted.
    """

    cpu_hours: float
    gpu_hours: float
    bytes: float
    basis: str


class Timing(NamedTuple):
    """What jobs of a rule and a place take on average: seconds, CPU-seconds, bytes of outputs."""

    seconds: float
    cpu_seconds: float
    bytes: float
    seeds: float = 1


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


def place_of(job: Job, output_dir: str) -> str:
    """Return the data that a job is about: `dataset/subset` of a run, else the data set, or ""."""
    for output in job.outputs:
        if Path(output).is_relative_to(output_dir):
            stage, *parts = Path(output).relative_to(output_dir).parts
            if stage == "runs":
                return "/".join(parts[1:3])
            if stage in _OF_A_CORPUS:
                return parts[0].split(".")[0].partition(AT)[0]
    return ""


class Timings:
    """What earlier runs took in this output folder, and what reference runs took.

    Args:
        jobs: of the listing.
        output_dir: of the run.
        seeds_of: a cell to the number of its seeds.
        reference: the CSV file that benchmarks/timings.py writes.
    """

    def __init__(
        self,
        jobs: Iterable[Job],
        output_dir: str,
        seeds_of: Callable[[Cell], int],
        reference: Path = REFERENCE,
    ) -> None:
        self._output_dir, self._seeds_of = output_dir, seeds_of
        self._reference, self.machine = read_reference(reference)
        self._ran = {
            rule: [*filter(None, map(_read_benchmark, files))]
            for rule in {job.rule for job in jobs}
            if (files := sorted(Path(output_dir, "benchmarks", rule).rglob("*.jsonl")))
        }

    def place(self, job: Job) -> str:
        return place_of(job, self._output_dir)

    def measured(self, job: Job) -> Timing | None:
        """Return what the last run of the same job took, None where it never ran here.

        A local job is not timed: what it takes is the disk of its outputs.
        """
        files = [Path(file) for file in job.outputs]
        untimed = (0.0, 0.0) if all(file.is_file() for file in files) else None
        ran = _read_benchmark(Path(job.benchmark)) if job.benchmark else untimed
        sizes = [file.stat().st_size for file in files if file.is_file()]
        return ran and Timing(*ran, sum(sizes), self._seeds(job))

    def cost(self, job: Job) -> Cost:
        """Return what a job will cost."""
        own = [timing for (rule, _), timing in self._reference.items() if rule == job.rule]
        of_rule = mean_of(own) if own else Timing(0, 0, 0)
        seconds = [mean(each) for each in zip(*self._ran.get(job.rule, []), strict=True)]
        found = {
            "measured": self.measured(job),
            "reference": self._reference.get((job.rule, self.place(job))),
            "alike": seconds and Timing(*seconds, of_rule.bytes, self._seeds(job)),
            "rough": own and of_rule,
        }
        basis = next((name for name, timing in found.items() if timing), "unknown")
        timing = found.get(basis) or of_rule
        # Of the jobs of all seeds only a training run takes as much longer as it has more of them.
        factor = self._seeds(job) / timing.seeds if job.rule == TRAINING else 1
        hours = factor / 3600
        gpu_hours = job.gpus * timing.seconds * hours
        return Cost(timing.cpu_seconds * hours, gpu_hours, timing.bytes * factor, basis)

    def _seeds(self, job: Job) -> int:
        runs = [Path(file).parent for file in job.outputs if "runs" in Path(file).parts]
        return self._seeds_of(Cell.from_path(runs[0])) if runs else 1


def mean_of(timings: Iterable[Timing]) -> Timing:
    return Timing(*map(mean, zip(*timings, strict=True)))


def read_reference(path: Path) -> tuple[dict[tuple[str, str], Timing], str]:
    """Return the timings by rule and place, and the machine that they are of."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    timings = {
        (row["rule"], row["place"]): Timing(*(float(row[name]) for name in Timing._fields))
        for row in rows
    }
    return timings, rows[0]["machine"]


def _read_benchmark(path: Path) -> tuple[float, float] | None:
    """Return the seconds and CPU-seconds of the last run, None where there is none to be read."""
    try:
        last = json.loads(path.read_text().splitlines()[-1])
        return float(last["s"]), float(last["cpu_time"])
    except (OSError, ValueError, IndexError, KeyError, TypeError):
        return None


def print_plan(jobs: Sequence[Job], timings: Timings) -> None:
    """Print a row for each rule, the totals, and what the estimates are taken from."""
    if not jobs:
        print("Nothing to be done: every table and figure is there.")
        return
    titles = ("steps", "Slurm jobs", "CPU-hours", "GPU-hours")
    columns = (Column(title, justify="right") for title in titles)
    table = Table("rule", *columns, "from", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    submitted, everything = cluster_jobs(jobs), []
    for rule in dict.fromkeys(job.rule for job in jobs):
        own = [job for job in jobs if job.rule == rule]
        costs = [timings.cost(job) for job in own]
        everything += costs
        if own[0].minutes is None:
            table.add_row(rule, str(len(own)), "local")
            continue
        place = f"in {own[0].group[0]}" if own[0].group else str(submitted[rule])
        cpu, gpu = _hours(costs)
        bases = Counter(cost.basis for cost in costs)
        basis = ", ".join(f"{number} {basis}" for basis, number in bases.items())
        table.add_row(rule, str(len(own)), place, cpu, gpu if own[0].gpus else "", basis)
    for group in sorted({job.group[0] for job in jobs if job.group}):
        table.add_row(f"group {group}", "", str(submitted[group]))
    table.add_section()
    table.add_row("total", str(len(jobs)), str(submitted.total()), *_hours(everything))
    Console(width=100).print(table)
    print(f"disk: about {decimal(round(sum(cost.bytes for cost in everything)))}")
    print(
        "measured: the same job ran here before; alike: the mean of its rule's jobs that ran here"
    )
    print(
        f"reference: the mean of its rule's jobs on these data; rough: on all. Of {timings.machine}"
    )


def _hours(costs: Sequence[Cost]) -> list[str]:
    """Return the CPU-hours and the GPU-hours of jobs."""
    return [f"{sum(cost[place] for cost in costs):.2f}" for place in (0, 1)]


def main(
    config: Path = CONFIG_OPTION,
) -> None:
    """Print the plan of the dry run whose listing comes on standard input."""
    try:
        settings = read_config(config)
        jobs = read_listing(sys.stdin.read())
        timings = Timings(
            jobs,
            settings.output_dir,
            lambda cell: len(settings.seeds_at(cell.subset, cell.overrides)),
        )
        print_plan(jobs, timings)
    except AnalogyQAError as error:
        sys.exit(f"Error: {error}")


if __name__ == "__main__":
    typer.run(main)
