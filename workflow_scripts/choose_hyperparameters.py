"""Choose the hyperparameters of a system by their best dev value."""

from analogyqa.job import job
from analogyqa.runs.choose import choose_hyperparameters

with job(snakemake) as given:
    histories = dict(zip(given.names, snakemake.input.files, strict=True))
    choose_hyperparameters(histories, given.measure, given.subset, snakemake.output[0])
