"""Train word vectors: fastText on texts, or word2vec on texts or on the sentences of corpora."""

import pandas as pd

from analogyqa.job import job
from analogyqa.schemas import CORPUS, read_table
from analogyqa.vectors.train import read_texts, train_vectors, train_word2vec

with job(snakemake) as given:
    options = {
        "dim": given.dim,
        "epochs": given.epochs,
        "min_count": given.min_count,
        "lowercase": given.lowercase,
    }
    texts = list(snakemake.input.get("texts", []))
    if snakemake.rule == "train_vectors":
        train_vectors(texts, snakemake.output[0], **options)
    else:
        sentences: dict[str, None] = {}
        for path, splits in zip(snakemake.input.get("corpora", []), given.splits, strict=True):
            corpus = read_table(path, CORPUS)
            pairs = corpus[corpus["split"].isin(splits)]
            sentences |= dict.fromkeys(pd.concat([pairs["question"], pairs["candidate"]]))
        options |= {"window": given.window, "model": given.model, "seed": given.seed}
        train_word2vec(read_texts(texts) if texts else sentences, snakemake.output[0], **options)
