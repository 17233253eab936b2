"""Score a cell whose encoder is not trained."""

from pathlib import Path

from analogyqa.job import cell_job, job
from analogyqa.runs.score import score_cell

with job(snakemake):
    folder = Path(snakemake.output.record).parent
    score_cell(cell_job(snakemake), folder, snakemake.params.code)
