"""Keep the encoder's weights of all seeds of a trained cell."""

from pathlib import Path

from analogyqa.job import cell_job, job
from analogyqa.runs.choose import resolve_system
from analogyqa.runs.weights import write_weights

with job(snakemake) as given:
    _, system = resolve_system(given.systems, snakemake.input.get("selection"))
    checkpoints = Path(snakemake.config["output_dir"], "checkpoints")
    write_weights(cell_job(snakemake, system), checkpoints, snakemake.output[0])
