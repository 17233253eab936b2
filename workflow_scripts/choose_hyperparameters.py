"""Choose the hyperparameters of a system by their best dev value."""

from analogyqa.job import job
from analogyqa.runs.train import choose_hyperparameters

with job(snakemake) as settings:
    choose_hyperparameters(
        dict(zip(settings["names"], snakemake.input.histories, strict=True)),
        settings["measure"],
        settings["subset"],
        snakemake.output[0],
    )
