"""Encode the sentences of a data set with a pre-trained encoder."""

from itertools import chain

import numpy as np
import torch

from analogyqa.job import job
from analogyqa.pretrained import Resources, encode_sentences, model_record
from analogyqa.schemas import CORPUS, read_table
from analogyqa.training.data import ranked_sentences, training_sentences
from analogyqa.vectors.store import write_store

with job(snakemake) as settings:
    torch.set_num_threads(snakemake.threads)
    inputs, params = snakemake.input, snakemake.params
    corpus = read_table(inputs.corpus, CORPUS)
    sentences = ranked_sentences(corpus, params.typed_only)
    parts = [sentences]
    if params.with_training:  # folds also rank the wrong candidates of training questions
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
    # One after the other: the last bits of a vector depend on the sentences in its batch.
    encoded = [encode_sentences(settings["encoder"], part, resources) for part in parts if part]
    vectors, sentences = np.concatenate(encoded), [*chain(*parts)]
    is_found = np.ones(len(sentences), dtype=bool)
    model = model_record(settings["encoder"], resources.weights)
    path = snakemake.output.vectors
    write_store(vectors, is_found, sentences, params.origin, path, settings, model=model)
