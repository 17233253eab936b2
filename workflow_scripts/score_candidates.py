"""Score a cell whose encoder is not trained."""

from pathlib import Path

from analogyqa.job import cell_files, job, job_cell
from analogyqa.runs.score import score_cell
from analogyqa.settings.systems import System

with job(snakemake) as given:
    score_cell(
        job_cell(snakemake),
        given.types,
        System(title="", **given.system),
        cell_files(snakemake),
        given.sources,
        given.lowercase,
        Path(snakemake.output.record).parent,
        given.configured,
    )
