"""Import the run records, tables and figures into MLflow.

input: run.json and metrics of every cell, summary, ledger, claims, tables and figures
output: mlflow.imported.json
"""

from pathlib import Path

from analogyqa.files import write_json
from analogyqa.job import job, reported
from analogyqa.plan import paper_cells
from analogyqa.tracking.shown import paper_runs
from analogyqa.tracking.store import import_runs

with job(snakemake) as given:
    config, papers = reported(snakemake)
    results = Path(snakemake.output[0]).parent
    runs = {
        name: paper_runs(results, paper, paper_cells(config, paper), config)
        for name, paper in papers.items()
    }
    imported = import_runs(given.tracking_uri, results, runs)
    # Without the number of new runs, which depends on the store instead of the inputs.
    content = {
        experiment: {key: value for key, value in counts._asdict().items() if key != "added"}
        for experiment, counts in imported.items()
    }
    write_json(snakemake.output[0], content)
