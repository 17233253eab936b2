"""Encode the sentences of a data set with a pre-trained encoder."""

import numpy as np
import torch

from analogyqa.job import job
from analogyqa.pretrained import Resources, encode_sentences
from analogyqa.schemas import CORPUS, read_table
from analogyqa.training.data import ranked_sentences, training_sentences
from analogyqa.vectors.store import write_store

with job(snakemake) as given:
    torch.set_num_threads(snakemake.threads)
    corpus = read_table(snakemake.input.corpus, CORPUS)
    sentences = ranked_sentences(corpus, given.typed_only)
    resources = Resources(
        snakemake.input.get("weights", given.name) or "",
        snakemake.input.get("vectors", ""),
        # Without a training split, fit on the sentences themselves.
        training_sentences(corpus) or sentences,
        given.lowercase,
        given.options,
    )
    vectors = encode_sentences(given.encoder, sentences, resources)
    is_found = np.ones(len(sentences), dtype=bool)
    output = snakemake.output.vectors
    write_store(vectors, is_found, sentences, given.origin, output, given.configured)
