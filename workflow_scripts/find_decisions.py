"""Find the prototype that decided each test question, in each seed of a cell."""

from analogyqa.job import job
from analogyqa.runs.finished import find_decisions
from analogyqa.schemas import CORPUS, DECISIONS, PROTOTYPES, SCORES, read_table, write_table

with job(snakemake) as settings:
    scores = read_table(snakemake.input.scores, SCORES)
    corpus = read_table(snakemake.input.corpus, CORPUS)
    prototypes = [read_table(path, PROTOTYPES) for path in snakemake.input.prototypes]
    by_seed = dict(zip(settings["seeds"], prototypes, strict=True))
    write_table(find_decisions(scores, corpus, by_seed), DECISIONS, snakemake.output[0])
