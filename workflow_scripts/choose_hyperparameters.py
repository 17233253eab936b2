"""Choose the hyperparameters of a system by their best dev value."""

from analogyqa.job import job
from analogyqa.runs.choose import choose_hyperparameters

with job(snakemake) as given:
    histories = dict(snakemake.input.items())
    choose_hyperparameters(histories, given.measure, given.subset, snakemake.output[0])
