"""Fuse the scores of other systems' runs.

input: the corpus of the cell; the scores and records of its parts, in the order of `given.parts`
output: runs/{system}/{dataset}/{subset}/{overrides}/{scores,metrics}.parquet and run.json
"""

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
