"""Measure the scores of a cell."""

from analogyqa.job import job
from analogyqa.runs.record import write_metrics

with job(snakemake) as given:
    files = snakemake.input
    write_metrics(files.scores, files.corpus, given.types, snakemake.output[0])
