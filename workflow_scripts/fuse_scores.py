"""Fuse the scores of other systems' runs."""

from pathlib import Path

from analogyqa.job import cell_job, job
from analogyqa.runs.score import fuse_cell

with job(snakemake) as settings:
    folders = [Path(file).parent for file in snakemake.input.scores]
    parts = dict(zip(settings["parts"], folders, strict=True))
    folder = Path(snakemake.output.record).parent
    fuse_cell(cell_job(snakemake), parts, folder, snakemake.params.code)
