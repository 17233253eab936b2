"""Encode the sentences of a data set with a pre-trained encoder."""

import torch

from analogyqa.job import job
from analogyqa.pretrained import Resources, store_sentences
from analogyqa.schemas import CORPUS, read_table
from analogyqa.training.data import ranked_sentences, training_sentences

with job(snakemake) as settings:
    torch.set_num_threads(snakemake.threads)
    inputs, params = snakemake.input, snakemake.params
    corpus = read_table(inputs.corpus, CORPUS)
    sentences = ranked_sentences(corpus, params.typed_only)
    parts = [sentences]
    if params.with_training:  # also the wrong candidates of training questions
        every, known = ranked_sentences(corpus.assign(label=1), params.typed_only), {*sentences}
        parts.append([text for text in every if text not in known])
    resources = Resources(
        next(iter(inputs.weights), params.name) or "",
        next(iter(inputs.vectors), ""),
        # Without a training split, fit on the sentences themselves.
        training_sentences(corpus) or sentences,
        settings["lowercase"],
        settings["options"],
    )
    store_sentences(parts, settings, resources, params.origin, snakemake.output.vectors)
