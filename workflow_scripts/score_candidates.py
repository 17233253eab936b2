"""Score a cell whose encoder is not trained.

input: corpus, vectors, prototypes and quadruples (one file for each seed)
output: runs/{system}/{dataset}/{subset}/{overrides}/{scores,metrics}.parquet and run.json
"""

from pathlib import Path

from analogyqa.job import cell_files, cell_of, job
from analogyqa.runs.score import score_cell
from analogyqa.settings.systems import System

with job(snakemake) as given:
    score_cell(
        cell_of(snakemake),
        given.types,
        System(title="", **given.system),
        cell_files(snakemake),
        given.sources,
        given.lowercase,
        Path(snakemake.output.record).parent,
        given.configured,
    )
