"""Keep the encoder's weights of all seeds of a trained cell."""

from pathlib import Path

from analogyqa.job import cell_files, job, job_cell
from analogyqa.runs.choose import resolve_system
from analogyqa.runs.weights import write_weights

with job(snakemake) as given:
    _, system = resolve_system(given.systems, snakemake.input.get("selection"))
    write_weights(
        job_cell(snakemake),
        given.types,
        system,
        cell_files(snakemake, system.training.negatives),
        given.lowercase,
        Path(snakemake.config["output_dir"], "checkpoints"),
        snakemake.output[0],
    )
