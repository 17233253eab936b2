"""Read the vectors and norms of the test split from the trained encoder of the first seed."""

from pathlib import Path

from analogyqa.job import cell_job, job
from analogyqa.runs.choose import resolve_system
from analogyqa.runs.inside import write_inside

with job(snakemake) as given:
    _, system = resolve_system(given.systems, snakemake.input.get("selection"))
    checkpoints = Path(snakemake.config["output_dir"], "checkpoints")
    write_inside(cell_job(snakemake, system), checkpoints, snakemake.output[0])
