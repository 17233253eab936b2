"""Choose the prototypes of a subset, for each seed."""

from functools import cache, partial

from analogyqa.analogies.prototypes import choose_prototypes
from analogyqa.job import by_seed, job
from analogyqa.schemas import CORPUS, PROTOTYPES, read_table, write_table

with job(snakemake) as settings:
    corpora, types = by_seed(snakemake.input, settings["seeds"]), settings["question_types"]
    choice, name = settings["prototype_choice"], snakemake.wildcards.corpus
    read = cache(partial(read_table, schema=CORPUS))
    for (seed, file), path in zip(corpora.items(), snakemake.output, strict=True):
        write_table(choose_prototypes(read(file), types, seed, choice, name), PROTOTYPES, path)
