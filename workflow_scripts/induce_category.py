"""Make the sentence pairs of a category."""

import logging

from analogyqa.analogies.induce import induce_category
from analogyqa.job import find_spacy_model, job
from analogyqa.pretrained.nli import read_nli
from analogyqa.schemas import ANALOGIES, write_table
from analogyqa.settings.data import Category

with job(snakemake) as settings:
    category = Category(title="", **settings["category"])
    files = snakemake.input
    frame = induce_category(
        category,
        next(iter(files.words), ""),
        files.texts,
        {path: read_nli([path]) for path in files.inference},
        find_spacy_model(snakemake, "the structure of sentences (parser.model)"),
        settings["seed"],
        files.triplets,
    )
    logging.info("%s: %d of %d pairs", snakemake.wildcards.category, len(frame), category.pairs)
    write_table(frame, ANALOGIES, snakemake.output[0])
