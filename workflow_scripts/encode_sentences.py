"""Encode the sentences of a data set with a pre-trained encoder."""

import torch

from analogyqa.job import job
from analogyqa.pretrained import Resources, store_sentences
from analogyqa.schemas import CORPUS, read_table
from analogyqa.training.data import sentence_parts, training_sentences

with job(snakemake) as settings:
    torch.set_num_threads(snakemake.threads)
    inputs, params = snakemake.input, snakemake.params
    corpus = read_table(inputs.corpus, CORPUS)
    parts = sentence_parts(corpus, params.typed_only, params.with_training)
    resources = Resources(
        next(iter(inputs.weights), params.name) or "",
        next(iter(inputs.vectors), ""),
        # Without a training split, fit on the sentences themselves.
        training_sentences(corpus) or parts[0],
        settings["lowercase"],
        settings["options"],
    )
    store_sentences(parts, settings, resources, params.origin, snakemake.output.vectors)
