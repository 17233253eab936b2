"""Read the vectors and norms of the test split out of a trained encoder, of the first seed.

input: the record of the training, and the tables that it was made of
output: runs/{system}/{dataset}/{subset}/{overrides}/inside.parquet
"""

from pathlib import Path

from analogyqa.job import cell_files, job, job_cell
from analogyqa.runs.choose import system_of
from analogyqa.runs.inside import write_inside

with job(snakemake) as given:
    _, system = system_of(given.settings, snakemake.input.get("selection"))
    ((seed, files),) = cell_files(snakemake, system.training.negatives).items()
    write_inside(
        job_cell(snakemake),
        given.types,
        system,
        seed,
        files,
        given.lowercase,
        Path(snakemake.config["output_dir"], "checkpoints"),
        snakemake.output[0],
    )
