"""Import the run records, tables and figures into MLflow."""

from pathlib import Path

from analogyqa.cells import paper_cells
from analogyqa.files import write_json
from analogyqa.job import job, reported
from analogyqa.tracking.records import describe, paper_runs, register_best
from analogyqa.tracking.store import import_runs

with job(snakemake):
    config, papers = reported(snakemake)
    results = Path(snakemake.output[0]).parent
    runs = {
        name: paper_runs(results, paper, paper_cells(config, paper), config)
        for name, paper in papers.items()
    }
    import_runs(snakemake.params.tracking_uri, results, runs)
    describe(snakemake.params.tracking_uri, results, papers.values(), config)
    register_best(snakemake.params.tracking_uri, results, runs, config)
    # What was imported, by paper and record.
    hashes = {name: {run.record: run.content_hash for run in runs[name]} for name in runs}
    write_json(snakemake.output[0], hashes)
