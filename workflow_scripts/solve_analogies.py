"""Solve the analogies of a data set with every solver, for one system."""

from pathlib import Path

from threadpoolctl import threadpool_limits

from analogyqa.analogies.specs import SOLVERS
from analogyqa.job import cell_job, job
from analogyqa.runs.solve import solve_cells
from analogyqa.settings.data import Evaluation

with job(snakemake) as settings:
    folders = dict(zip(SOLVERS, (Path(path).parent for path in snakemake.output[::2]), strict=True))
    jobs = {
        solver: cell_job(snakemake, folder, settings[solver]) for solver, folder in folders.items()
    }
    evaluation = Evaluation(**next(iter(jobs.values())).settings["evaluation"])
    weights = next(iter(snakemake.input.weights), None)
    with threadpool_limits(snakemake.threads):
        solve_cells(jobs, folders, evaluation, weights, snakemake.params.code)
