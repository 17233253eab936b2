"""Encode the sentences of a data set with a pre-trained encoder."""

import numpy as np
import torch

from analogyqa.job import job
from analogyqa.pretrained import Resources, encode_sentences
from analogyqa.schemas import CORPUS, read_table
from analogyqa.training.data import ranked_sentences, training_sentences
from analogyqa.vectors.store import write_store

with job(snakemake) as settings:
    torch.set_num_threads(snakemake.threads)
    inputs, params = snakemake.input, snakemake.params
    corpus = read_table(inputs.corpus, CORPUS)
    sentences = ranked_sentences(corpus, params.typed_only)
    resources = Resources(
        next(iter(inputs.weights), params.name) or "",
        next(iter(inputs.vectors), ""),
        # Without a training split, fit on the sentences themselves.
        training_sentences(corpus) or sentences,
        settings["lowercase"],
        settings["options"],
    )
    vectors = encode_sentences(settings["encoder"], sentences, resources)
    is_found = np.ones(len(sentences), dtype=bool)
    write_store(vectors, is_found, sentences, params.origin, snakemake.output.vectors, settings)
