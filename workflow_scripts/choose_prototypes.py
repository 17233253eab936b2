"""Choose the prototypes of a subset, for each seed."""

from analogyqa.analogies.prototypes import choose_prototypes
from analogyqa.job import job
from analogyqa.schemas import CORPUS, PROTOTYPES, read_table, write_table

with job(snakemake) as given:
    corpus = read_table(snakemake.input[0], CORPUS)
    for seed, path in zip(given.seeds, snakemake.output, strict=True):
        prototypes = choose_prototypes(
            corpus, given.types, seed, given.choice, snakemake.wildcards.corpus
        )
        write_table(prototypes, PROTOTYPES, path)
