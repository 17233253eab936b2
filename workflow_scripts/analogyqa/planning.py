"""The jobs that a run would submit to a cluster, and what they will probably cost.

Jobs are read from Snakemake's dry run, costs from the benchmark files and outputs of earlier runs.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean
from typing import NamedTuple

import pandas as pd
from rich import box
from rich.console import Console
from rich.filesize import decimal
from rich.table import Column, Table

from analogyqa.cells import Cell, split_corpus
from analogyqa.cells.targets import WITH_CORPUS, without_ending
from analogyqa.errors import AnalogyQAError
from analogyqa.evaluation.summary import read_record

REFERENCE = Path(__file__).with_name("timings.csv")
TRAINING = "train_encoder"
_WITH_DATASET = WITH_CORPUS | {"vectors", "costs"}
_GROUP = re.compile(r"Group job (\S+) \(jobs")
_RULE = re.compile(r"( *)(?:local)?rule (\w+):$")
_KEY = re.compile(r" +(output|benchmark|resources): (.*)$")
_NEED = re.compile(r"\b(runtime|gpu)=(\d+)")
_MARK = re.compile(r" \((?:update|touch|pipe|directory)\)$")


@dataclass
class Job:
    """A job of Snakemake that is left to do."""

    rule: str
    group: tuple[str, int] | None  # name and number; the jobs of a group are one cluster job
    outputs: list[str] = field(default_factory=list)
    benchmark: str | None = None
    minutes: int | None = None  # the time limit on a cluster, None for a local job
    gpus: int = 0


class Cost(NamedTuple):
    """The estimated cost of a job, and the basis of the estimate, as `print_plan` explains it."""

    cpu_hours: float
    gpu_hours: float
    bytes: float
    basis: str


class Timing(NamedTuple):
    """The mean seconds, CPU-seconds and bytes of outputs of the jobs of a rule on some data."""

    seconds: float
    cpu_seconds: float
    bytes: float
    seeds: float = 1


def read_listing(text: str) -> list[Job]:
    """Return the jobs in the listing of a dry run; raises AnalogyQAError for any other text."""
    jobs: list[Job] = []
    group, groups = None, 0
    for line in text.splitlines():
        if match := _GROUP.search(line):
            groups += 1
            group = (match[1], groups)
        elif match := _RULE.match(line):
            jobs.append(Job(match[2], group if match[1] else None))
        elif jobs and (match := _KEY.match(line)):
            job, key, value = jobs[-1], *match.groups()
            if key == "output":
                job.outputs = [_MARK.sub("", file) for file in value.split(", ")]
            elif key == "resources":
                needs = {name: int(number) for name, number in _NEED.findall(value)}
                job.minutes, job.gpus = needs.get("runtime"), needs.get("gpu", 0)
            else:
                job.benchmark = value
    if not jobs and "Nothing to be done" not in text:
        raise AnalogyQAError(
            "there is no listing of jobs, because the dry run failed. See its message above"
        )
    return jobs


def cluster_jobs(jobs: Iterable[Job]) -> Counter[str]:
    """Return the number of cluster jobs of each rule and group."""
    submitted = [job for job in jobs if job.minutes is not None]
    groups = {job.group for job in submitted if job.group}
    return Counter([job.rule for job in submitted if not job.group] + [name for name, _ in groups])


class Timings:
    """Timings of earlier runs in an output folder, and those in the file `reference`.

    `count_seeds` returns the number of seeds of a cell.
    """

    def __init__(
        self, output_dir: str, count_seeds: Callable[[Cell], int], reference: Path = REFERENCE
    ) -> None:
        self._output_dir, self._count_seeds = output_dir, count_seeds
        self._reference, self.machine = read_reference(reference)

    def job_data(self, job: Job) -> str:
        """Return the data of a job: `dataset/subset` for a run, otherwise its data set or ""."""
        for output in job.outputs:
            if Path(output).is_relative_to(self._output_dir):
                stage, *parts = Path(output).relative_to(self._output_dir).parts
                if stage == "runs":
                    return "/".join(parts[1:3])
                if stage in _WITH_DATASET:
                    return split_corpus(without_ending(parts[0]))[0]
        return ""

    def measured(self, job: Job) -> Timing | None:
        """Return the timing of the last run of the same job, None if it never ran here.

        Local jobs are not timed; their only cost is the size of their outputs.
        """
        files = [file for file in map(Path, job.outputs) if file.is_file()]
        untimed = (0.0, 0.0) if len(files) == len(job.outputs) else None
        times = _read_benchmark(Path(job.benchmark)) if job.benchmark else untimed
        record = next((file for file in files if file.name == "run.json"), None)
        seeds = len(read_record(record)["seeds"]) if record else self._seeds(job)
        return times and Timing(*times, sum(file.stat().st_size for file in files), seeds)

    def cost(self, job: Job) -> Cost:
        references = [timing for (rule, _), timing in self._reference.items() if rule == job.rule]
        estimates = {
            "measured": self.measured(job),
            "reference": self._reference.get((job.rule, self.job_data(job))),
            "rough": mean_timing(references) if references else None,
            "unknown": Timing(0, 0, 0),
        }
        basis, timing = next((name, timing) for name, timing in estimates.items() if timing)
        # Only the time of training jobs grows with the number of their seeds.
        factor = self._seeds(job) / timing.seeds if job.rule == TRAINING else 1
        hours = factor / 3600
        gpu_hours = job.gpus * timing.seconds * hours
        return Cost(timing.cpu_seconds * hours, gpu_hours, timing.bytes * factor, basis)

    def _seeds(self, job: Job) -> int:
        folder = Path(self._output_dir, "runs")
        runs = [Path(file).parent for file in job.outputs if Path(file).is_relative_to(folder)]
        return self._count_seeds(Cell.from_path(runs[0])) if runs else 1


class TimeLeft:
    """The estimate of how long a run goes on, from its jobs that have finished.

    A rule of which jobs have finished is expected to take their mean. Any other rule is expected to
    take its mean in `reference`, times how much longer jobs take here than there.
    """

    def __init__(self, counts: Mapping[str, int], now: float, reference: Path = REFERENCE) -> None:
        self._left, self._start = Counter(counts), now
        by_rule: dict[str, list[float]] = defaultdict(list)
        for (rule, _), timing in read_reference(reference)[0].items():
            by_rule[rule].append(timing.seconds)
        self._reference = {rule: mean(seconds) for rule, seconds in by_rule.items()}
        self._running: dict[int, tuple[str, float]] = {}
        self._seconds: dict[str, list[float]] = defaultdict(list)

    def start(self, job: int, rule: str, now: float) -> None:
        """Note that a job starts at a time in seconds."""
        self._running[job] = rule, now

    def finish(self, job: int, now: float) -> None:
        """Note that a job has finished."""
        rule, started = self._running.pop(job)
        self._seconds[rule].append(now - started)
        self._left[rule] -= 1

    def fail(self, job: int) -> None:
        """Note that a job has failed, and is still to do."""
        del self._running[job]

    def running(self, rule: str) -> int:
        """Return the number of jobs of a rule that run now."""
        return sum(name == rule for name, _ in self._running.values())

    def seconds(self, now: float) -> float | None:
        """Return the seconds left, None while most of them would be those of the reference."""
        means = {rule: mean(seconds) for rule, seconds in self._seconds.items()}
        here = sum(sum(self._seconds[rule]) for rule in means if rule in self._reference)
        there = sum(len(self._seconds[rule]) * self._reference.get(rule, 0) for rule in means)
        known = sum(self._left[rule] * seconds for rule, seconds in means.items())
        others = self._left.keys() - means
        guessed = sum(self._left[rule] * self._reference.get(rule, 0) for rule in others)
        guessed *= here / there if there else 1
        if guessed > known or not means:
            return None
        ages = {job: now - started for job, (_, started) in self._running.items()}
        spent = sum(min(ages[job], means.get(rule, 0)) for job, (rule, _) in self._running.items())
        at_once = (sum(map(sum, self._seconds.values())) + sum(ages.values())) / (now - self._start)
        return (known + guessed - spent) / at_once


def mean_timing(timings: Iterable[Timing]) -> Timing:
    return Timing(*map(mean, zip(*timings, strict=True)))


def read_reference(path: Path) -> tuple[dict[tuple[str, str], Timing], str]:
    """Return the timings by rule and data, and the machine on which they were measured."""
    table = pd.read_csv(path, keep_default_na=False).set_index(["rule", "data"])
    rows = table[list(Timing._fields)].astype(float).itertuples(index=False)
    return dict(zip(table.index, map(Timing._make, rows), strict=True)), table["machine"].iloc[0]


def _read_benchmark(path: Path) -> tuple[float, float] | None:
    """Return the seconds and CPU-seconds of the last run, None if they cannot be read."""
    try:
        last = json.loads(path.read_text().splitlines()[-1])
        return float(last["s"]), float(last["cpu_time"])
    except (OSError, ValueError, IndexError, KeyError, TypeError):
        return None


def print_plan(jobs: Sequence[Job], timings: Timings) -> None:
    """Print a row for each rule, the totals, and the meaning of the estimates."""
    if not jobs:
        print("Nothing to be done: all tables and figures are up to date.")
        return
    titles = ("steps", "Slurm\njobs", "CPU\nhours", "GPU\nhours")
    columns = (Column(title, justify="right") for title in titles)
    # The names of rules, of up to 27 letters, are on one line of 80 columns, and whole in 50.
    rule_column, basis = Column("rule", overflow="fold"), Column("from", min_width=9, max_width=20)
    table = Table(rule_column, *columns, basis, box=box.SIMPLE_HEAD, padding=0, show_edge=False)
    submitted = cluster_jobs(jobs)
    costs = pd.DataFrame([timings.cost(job) for job in jobs])
    rules = [job.rule for job in jobs]
    for rule, rule_costs in costs.groupby(rules, sort=False):
        first, count = jobs[rules.index(rule)], str(len(rule_costs))
        if first.minutes is None:
            table.add_row(rule, count, "local")
            continue
        cluster = f"in {first.group[0]}" if first.group else str(submitted[rule])
        cpu, gpu = _hours(rule_costs)
        bases = Counter(rule_costs["basis"]).items()
        sources = ", ".join(f"{number} {basis}" for basis, number in bases)
        table.add_row(rule, count, cluster, cpu, gpu if first.gpus else "", sources)
    for group in sorted({job.group[0] for job in jobs if job.group}):
        table.add_row(f"group {group}", "", str(submitted[group]))
    table.add_section()
    table.add_row("total", str(len(jobs)), str(submitted.total()), *_hours(costs))
    Console().print(table)
    print(f"disk: about {decimal(round(costs['bytes'].sum()))}")
    print("measured: the same job ran here before; reference: the mean of the rule's jobs on the")
    print(f"same data; rough: on all data; the last two on {timings.machine}")


def _hours(costs: pd.DataFrame) -> list[str]:
    return [f"{hours:.2f}" for hours in costs[["cpu_hours", "gpu_hours"]].sum()]
