"""Solve the analogies of a data set with every solver, for one system."""

from pathlib import Path

from threadpoolctl import threadpool_limits

from analogyqa.analogies.specs import SOLVERS
from analogyqa.examples.files import CellFiles
from analogyqa.job import job
from analogyqa.plan import Cell
from analogyqa.runs.solve import solve_cells
from analogyqa.settings.analogies import Evaluation
from analogyqa.settings.systems import System

with job(snakemake) as given:
    folders = dict(zip(SOLVERS, (Path(path).parent for path in snakemake.output[::2]), strict=True))
    inputs = snakemake.input
    files = CellFiles(
        inputs.corpus, inputs.get("vectors"), None, {}, inputs.get("sentence_vectors")
    )
    with threadpool_limits(snakemake.threads):
        solve_cells(
            {solver: Cell.from_path(folder) for solver, folder in folders.items()},
            System(title="", **given.system),
            given.seeds,
            files,
            given.sources,
            given.lowercase,
            folders,
            Evaluation(**given.evaluation),
            inputs.get("weights"),
            given.configured,
        )
