"""Keep the weights of the trained encoder of a cell, all seeds.

input: the record of the training, and the tables that it was made of
output: runs/{system}/{dataset}/{subset}/{overrides}/weights.pt
"""

from pathlib import Path

from analogyqa.job import cell_files, job, job_cell
from analogyqa.runs.choose import system_of
from analogyqa.runs.weights import write_weights

with job(snakemake) as given:
    _, system = system_of(given.settings, snakemake.input.get("selection"))
    write_weights(
        job_cell(snakemake),
        given.types,
        system,
        cell_files(snakemake, system.training.negatives),
        given.lowercase,
        Path(snakemake.config["output_dir"], "checkpoints"),
        snakemake.output[0],
    )
