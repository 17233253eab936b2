"""Solve the analogies of a data set with every solver, for one system."""

from pathlib import Path

from threadpoolctl import threadpool_limits

from analogyqa.analogies.specs import SOLVERS
from analogyqa.cells import Cell
from analogyqa.job import job
from analogyqa.runs.solve import solve_cells
from analogyqa.settings.data import Evaluation
from analogyqa.settings.systems import System
from analogyqa.training.files import CellFiles, CellJob

with job(snakemake) as given:
    folders = dict(zip(SOLVERS, (Path(path).parent for path in snakemake.output[::2]), strict=True))
    inputs = snakemake.input
    files = CellFiles(
        inputs.corpus, inputs.get("vectors"), None, {}, inputs.get("sentence_vectors")
    )
    system = System(title="", **given.system)
    jobs = {
        solver: CellJob(
            Cell.from_path(folder),
            None,
            system,
            dict.fromkeys(given.seeds, files),
            given.lowercase,
            given.sources,
            given.configured[solver],
        )
        for solver, folder in folders.items()
    }
    with threadpool_limits(snakemake.threads):
        solve_cells(jobs, folders, Evaluation(**given.evaluation), inputs.get("weights"))
