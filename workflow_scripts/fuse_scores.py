"""Fuse the scores of other systems' runs."""

from pathlib import Path

from analogyqa.job import cell_job, job
from analogyqa.runs.fuse import fuse_cell
from analogyqa.settings.systems import System

with job(snakemake) as given:
    system = System(title="", **given.system)
    folders = [Path(file).parent for file in snakemake.input.scores]
    parts = dict(zip(given.parts, folders, strict=True))
    fuse_cell(cell_job(snakemake, system), parts, Path(snakemake.output.record).parent)
