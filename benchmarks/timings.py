"""Write the times of a finished run's jobs to the library's timings.csv, for `make plan`.

    snakemake --cores 2 --config seeds=1
    snakemake --cores 2 --config seeds=1 -n --forceall | python benchmarks/timings.py --seeds 1

A row is the mean over the jobs of a rule on a data set, or on a subset of it. The rows of other
jobs do not change.
"""

import csv
import sys
from collections import defaultdict
from datetime import date
from typing import Annotated

import typer

from analogyqa.arithmetic import processor
from analogyqa.cli.options import CONFIG, ConfigOption
from analogyqa.planning import REFERENCE, Timings, mean_timing, read_listing
from analogyqa.settings.load import read_config


def main(
    seeds: Annotated[int, typer.Option(help="The seeds that every cell of the run had.")],
    config: ConfigOption = CONFIG,
) -> None:
    """Write the timings of the jobs that a dry run lists on standard input."""
    jobs = read_listing(sys.stdin.read())
    timings = Timings(read_config(config).output_dir, lambda cell: seeds)
    by_data = defaultdict(list)
    for job in jobs:
        if job.outputs and (timing := timings.measured(job)):
            by_data[job.rule, timings.job_data(job)].append(timing)
    machine = f"one core of {processor()} for each job, no GPU, {date.today()}"
    with open(REFERENCE, newline="", encoding="utf-8") as file:
        header, *before = csv.reader(file)
    rows = {(rule, data): values for rule, data, *values in before}
    for key, timings_of_jobs in by_data.items():
        rows[key] = [*(f"{value:.4g}" for value in mean_timing(timings_of_jobs)), machine]
    with open(REFERENCE, "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(header)
        table.writerows([*key, *values] for key, values in sorted(rows.items()))


if __name__ == "__main__":
    typer.run(main)
