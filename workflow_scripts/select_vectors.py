"""Select the vectors of the words in a data set."""

import logging

import pandas as pd

from analogyqa.job import job
from analogyqa.schemas import CORPUS, read_table
from analogyqa.vectors.files import build_vocabulary, select_vectors
from analogyqa.vectors.store import write_store

with job(snakemake) as settings:
    corpus = read_table(snakemake.input.corpus, CORPUS)
    sentences = pd.concat([corpus["question"], corpus["candidate"]])
    vocabulary = build_vocabulary(sentences, settings["lowercase"])
    file, origin = snakemake.input.vectors, snakemake.params.origin
    vectors, is_found = select_vectors(file, vocabulary, settings["out_of_vocabulary"])
    logging.info(
        "%s: %d of %d words found in %s",
        snakemake.wildcards.vectors, is_found.sum(), len(is_found), origin,
    )  # fmt: skip
    write_store(vectors, is_found, vocabulary, origin, snakemake.output.vectors, settings)
