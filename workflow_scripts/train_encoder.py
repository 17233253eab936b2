"""Train and score all seeds of a cell."""

from pathlib import Path

from analogyqa.job import cell_files, job, job_cell
from analogyqa.runs.choose import resolve_system
from analogyqa.runs.train import train_cell
from analogyqa.tracking import live_log

with job(snakemake) as given:
    hyperparameters, system = resolve_system(given.systems, snakemake.input.get("selection"))
    cell, results = job_cell(snakemake), snakemake.config["output_dir"]
    tracking_uri = snakemake.config["tracking_uri"]
    with live_log(tracking_uri, results, cell, hyperparameters) as on_epoch:
        train_cell(
            cell,
            given.types,
            system,
            hyperparameters,
            cell_files(snakemake, system.training.negatives),
            given.sources,
            given.lowercase,
            snakemake.config["device"],
            Path(results, "checkpoints"),
            Path(snakemake.output.record).parent,
            snakemake.threads,
            on_epoch,
            given.configured,
        )
