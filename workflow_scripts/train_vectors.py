"""Train word vectors: fastText on texts, or word2vec on the questions and candidates of corpora."""

import pandas as pd

from analogyqa.job import job
from analogyqa.schemas import CORPUS, read_table
from analogyqa.vectors.train import train_vectors, train_word2vec

with job(snakemake) as given:
    options = {
        "dim": given.dim,
        "epochs": given.epochs,
        "min_count": given.min_count,
        "lowercase": given.lowercase,
    }
    if texts := snakemake.input.get("texts"):
        train_vectors(list(texts), snakemake.output[0], **options)
    else:
        sentences: dict[str, None] = {}
        for path, splits in zip(snakemake.input.corpora, given.splits, strict=True):
            corpus = read_table(path, CORPUS)
            pairs = corpus[corpus["split"].isin(splits)]
            sentences |= dict.fromkeys(pd.concat([pairs["question"], pairs["candidate"]]))
        train_word2vec(sentences, snakemake.output[0], window=given.window, **options)
