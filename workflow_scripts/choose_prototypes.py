"""Choose the prototypes of a subset, for each seed."""

from analogyqa.analogies.prototypes import choose_prototypes
from analogyqa.job import job
from analogyqa.schemas import CORPUS, PROTOTYPES, read_table, write_table

with job(snakemake) as settings:
    corpus, types = read_table(snakemake.input[0], CORPUS), settings["question_types"]
    choice, name = settings["prototype_choice"], snakemake.wildcards.corpus
    for seed, path in zip(settings["seeds"], snakemake.output, strict=True):
        write_table(choose_prototypes(corpus, types, seed, choice, name), PROTOTYPES, path)
