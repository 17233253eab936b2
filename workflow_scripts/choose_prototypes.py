"""Choose the prototypes of a subset, for each seed.

input: corpora/{corpus}.parquet
output: prototypes/{corpus}/{subset}/seed{seed}.parquet
"""

from analogyqa.analogies.prototypes import choose_prototypes
from analogyqa.job import job
from analogyqa.schemas import CORPUS, PROTOTYPES, read_table, write_table

with job(snakemake):
    corpus, params = read_table(snakemake.input[0], CORPUS), snakemake.params
    for seed, path in zip(params.seeds, snakemake.output, strict=True):
        prototypes = choose_prototypes(
            corpus, params.types, seed, params.choice, snakemake.wildcards.corpus
        )
        write_table(prototypes, PROTOTYPES, path)
