"""Import the run records, tables and figures into MLflow.

input: run.json and metrics of every cell, ledger, claims, tables and figures
output: mlflow.imported.json
"""

from pathlib import Path

from analogyqa.files import write_json
from analogyqa.tracking.records import experiment_of
from analogyqa.tracking.store import import_runs
from job import job

with job(snakemake):
    results = Path(snakemake.output[0]).parent
    imported = import_runs(
        snakemake.params.tracking_uri,
        experiment_of(results),
        snakemake.input.records,
        snakemake.input.metrics,
        results,
    )
    # How many runs were new depends on the store and not on the inputs: it is left out.
    content = {key: value for key, value in imported._asdict().items() if key != "added"}
    write_json(snakemake.output[0], {experiment_of(results): content})
