"""Fuse the scores of other systems' runs."""

from pathlib import Path

from analogyqa.job import job, job_cell
from analogyqa.runs.fuse import fuse_cell
from analogyqa.settings.systems import System

with job(snakemake) as given:
    folders = [Path(file).parent for file in snakemake.input.scores]
    fuse_cell(
        job_cell(snakemake),
        given.types,
        System(title="", **given.system),
        snakemake.input.corpus,
        dict(zip(given.parts, folders, strict=True)),
        given.seeds,
        Path(snakemake.output.record).parent,
        given.configured,
    )
