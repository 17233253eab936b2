"""Train word2vec on the questions and candidates of corpora.

input: corpora
output: vectors/trained/{vectors}.bin
"""

import pandas as pd

from analogyqa.job import job
from analogyqa.schemas import CORPUS, read_table
from analogyqa.vectors.train import train_word2vec

with job(snakemake):
    texts: dict[str, None] = {}
    for path, splits in zip(snakemake.input.corpora, snakemake.params.splits, strict=True):
        corpus = read_table(path, CORPUS)
        own = corpus[corpus["split"].isin(splits)]
        texts |= dict.fromkeys(pd.concat([own["question"], own["candidate"]]))
    train_word2vec(
        texts,
        snakemake.output[0],
        snakemake.params.dim,
        snakemake.params.window,
        snakemake.params.epochs,
        snakemake.params.min_count,
        snakemake.params.lowercase,
    )
