"""Read the vectors and norms of the test split from the trained encoder of the first seed."""

from pathlib import Path

from analogyqa.job import cell_job, job
from analogyqa.runs.trained import write_inside

with job(snakemake):
    checkpoints = Path(snakemake.config["output_dir"], "checkpoints")
    write_inside(cell_job(snakemake).first_seed_only(), checkpoints, snakemake.output[0])
