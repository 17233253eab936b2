"""Build the quadruples of p prototypes, for each seed."""

from functools import cache, partial

from analogyqa.analogies.prototypes import take_prototypes
from analogyqa.analogies.quadruples import evaluation_blocks, training_blocks, write_quadruples
from analogyqa.corpora.questions import select_subset
from analogyqa.job import by_seed, job
from analogyqa.schemas import CORPUS, PROTOTYPES, read_table
from analogyqa.settings.systems import Negatives

with job(snakemake) as settings:
    wildcards, types = snakemake.wildcards, settings["question_types"]
    corpora = by_seed(snakemake.input.corpus, settings["seeds"])
    read = cache(partial(read_table, schema=CORPUS))
    for split, paths in snakemake.output.items():
        files = zip(corpora.items(), snakemake.input.prototypes, paths, strict=True)
        for (seed, corpus), file, path in files:
            pairs = select_subset(read(corpus), split, types)
            prototypes = take_prototypes(
                read_table(file, PROTOTYPES), types, int(wildcards.p), file
            )
            if split == "train":
                negatives = Negatives(count=int(wildcards.number), per=wildcards.per)
                blocks = training_blocks(pairs, prototypes, negatives, seed)
            else:
                blocks = evaluation_blocks(pairs, prototypes)
            write_quadruples(blocks, pairs, path)
