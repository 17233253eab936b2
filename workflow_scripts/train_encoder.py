"""Train and score all seeds of a cell."""

from pathlib import Path

from analogyqa.job import cell_job, job
from analogyqa.runs.train import train_cell
from analogyqa.tracking import live_log

with job(snakemake):
    cell, config = cell_job(snakemake), snakemake.config
    results, tracking_uri = config["output_dir"], config["tracking_uri"]
    with live_log(tracking_uri, results, cell.cell, cell.hyperparameters) as on_epoch:
        train_cell(
            cell,
            config["device"],
            Path(results, "checkpoints"),
            Path(snakemake.output.record).parent,
            snakemake.threads,
            on_epoch,
            snakemake.params.code,
        )
