"""Train word vectors: fastText on texts, or word2vec on texts or on the sentences of corpora."""

import pandas as pd

from analogyqa.job import job
from analogyqa.schemas import CORPUS, read_table
from analogyqa.vectors.train import read_texts, train_vectors, train_word2vec

with job(snakemake) as settings:
    options = {name: settings[name] for name in ("dim", "epochs", "min_count", "lowercase")}
    texts = list(snakemake.input.texts)
    if snakemake.rule == "train_vectors":
        train_vectors(texts, snakemake.output[0], **options)
    else:
        sentences: dict[str, None] = {}
        splits = [corpus["splits"] for corpus in settings["corpora"].values()]
        for path, names in zip(snakemake.input.corpora, splits, strict=True):
            corpus = read_table(path, CORPUS)
            pairs = corpus[corpus["split"].isin(names)]
            sentences |= dict.fromkeys(pd.concat([pairs["question"], pairs["candidate"]]))
        options |= {name: settings[name] for name in ("window", "model", "seed")}
        train_word2vec(read_texts(texts) if texts else sentences, snakemake.output[0], **options)
