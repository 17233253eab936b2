"""Choose the prototypes of a subset, for each seed.

input: corpora/{dataset}.parquet
output: prototypes/{dataset}/{subset}/seed{seed}.parquet
"""

from analogyqa.prototypes import choose_prototypes
from analogyqa.schemas import CORPUS, PROTOTYPES, read_table, write_table
from job import job

with job(snakemake):
    corpus = read_table(snakemake.input[0], CORPUS)
    for seed, path in zip(snakemake.params.seeds, snakemake.output, strict=True):
        prototypes = choose_prototypes(
            corpus, snakemake.wildcards.subset, seed, snakemake.params.choice
        )
        write_table(prototypes, PROTOTYPES, path)
