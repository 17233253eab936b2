"""Find the prototype that decided each test question, in each seed of a cell."""

from analogyqa.job import job
from analogyqa.runs.finished import write_decisions

with job(snakemake) as settings:
    prototypes = dict(zip(settings["seeds"], snakemake.input.prototypes, strict=True))
    write_decisions(snakemake.input.scores, snakemake.input.corpus, prototypes, snakemake.output[0])
