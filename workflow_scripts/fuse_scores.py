"""Fuse the scores of other systems' runs."""

from pathlib import Path

from analogyqa.job import cell_job, job
from analogyqa.runs.score import fuse_cell

with job(snakemake) as settings:
    folders = [Path(file).parent for file in snakemake.input.scores]
    parts = dict(zip(settings["parts"], folders, strict=True))
    fuse_cell(cell_job(snakemake), parts, Path(snakemake.output.record).parent)
