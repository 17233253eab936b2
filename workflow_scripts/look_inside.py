"""Read the vectors and norms of the test split from the trained encoder of the first seed."""

from analogyqa.job import cell_job, job
from analogyqa.runs.finished import write_inside

with job(snakemake):
    cell = cell_job(snakemake).first_seed_only()
    write_inside(cell, snakemake.config["output_dir"], snakemake.output[0])
