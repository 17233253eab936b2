"""Score a cell whose encoder is not trained."""

from pathlib import Path

from analogyqa.job import cell_job, job
from analogyqa.runs.score import score_cell
from analogyqa.settings.systems import System

with job(snakemake) as given:
    system = System(title="", **given.system)
    score_cell(cell_job(snakemake, system), Path(snakemake.output.record).parent)
