"""Keep the encoder's weights of all seeds of a trained cell."""

from pathlib import Path

from analogyqa.job import cell_job, job
from analogyqa.runs.trained import write_weights

with job(snakemake):
    checkpoints = Path(snakemake.config["output_dir"], "checkpoints")
    write_weights(cell_job(snakemake), checkpoints, snakemake.output[0])
