"""Keep what the jobs of a finished run took in timings.csv, from which `make plan` estimates.

    snakemake --cores 2 --config seeds=1
    snakemake --cores 2 --config seeds=1 -n --forceall | python benchmarks/timings.py --seeds 1

A row is the mean over the jobs of a rule on a data set, or on a subset of it.
"""

import csv
import sys
from collections import defaultdict
from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from analogyqa.planning import CONFIG_OPTION, REFERENCE, Timing, Timings, mean_of, read_listing
from analogyqa.runs.cost import processor
from analogyqa.settings.load import read_config


def main(
    seeds: Annotated[int, typer.Option(help="The seeds that every cell of the run had.")],
    config: Path = CONFIG_OPTION,
) -> None:
    """Write the timings of the jobs that a dry run lists on standard input."""
    jobs = read_listing(sys.stdin.read())
    timings = Timings(jobs, read_config(config).output_dir, lambda cell: seeds)
    of_place = defaultdict(list)
    for job in jobs:
        if timing := timings.measured(job):
            of_place[job.rule, timings.place(job)].append(timing)
    machine = f"one core of {processor()} for each job, no GPU, {date.today()}"
    with open(REFERENCE, "w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["rule", "place", *Timing._fields, "machine"])
        for (rule, place), own in sorted(of_place.items()):
            rows.writerow([rule, place, *(f"{value:.4g}" for value in mean_of(own)), machine])


if __name__ == "__main__":
    typer.run(main)
