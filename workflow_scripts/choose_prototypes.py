"""Choose the prototypes of a subset, for each seed.

input: corpora/{dataset}.parquet
output: prototypes/{dataset}/{subset}/seed{seed}.parquet
"""

from analogyqa.analogies.prototypes import choose_prototypes
from analogyqa.schemas import CORPUS, PROTOTYPES, read_table, write_table
from job import job

with job(snakemake):
    corpus, wildcards = read_table(snakemake.input[0], CORPUS), snakemake.wildcards
    for seed, path in zip(snakemake.params.seeds, snakemake.output, strict=True):
        prototypes = choose_prototypes(
            corpus, wildcards.subset, seed, snakemake.params.choice, wildcards.dataset
        )
        write_table(prototypes, PROTOTYPES, path)
