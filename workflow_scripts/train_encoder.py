"""Train and score all seeds of a cell."""

from pathlib import Path

from analogyqa.job import cell_job, job
from analogyqa.runs.choose import resolve_system
from analogyqa.runs.train import train_cell
from analogyqa.tracking import live_log

with job(snakemake) as given:
    hyperparameters, system = resolve_system(given.systems, snakemake.input.get("selection"))
    cell, results = cell_job(snakemake, system), snakemake.config["output_dir"]
    tracking_uri = snakemake.config["tracking_uri"]
    with live_log(tracking_uri, results, cell.cell, hyperparameters) as on_epoch:
        train_cell(
            cell,
            hyperparameters,
            snakemake.config["device"],
            Path(results, "checkpoints"),
            Path(snakemake.output.record).parent,
            snakemake.threads,
            on_epoch,
        )
