"""Read the vectors and norms of the test split from the trained encoder of the first seed."""

from pathlib import Path

from analogyqa.job import cell_files, job, job_cell
from analogyqa.runs.choose import resolve_system
from analogyqa.runs.inside import write_inside

with job(snakemake) as given:
    _, system = resolve_system(given.systems, snakemake.input.get("selection"))
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
