"""Read the splits of a data set into the corpus table.

input: train, dev, test
output: corpora/{dataset}.parquet
"""

from analogyqa.corpora.table import build_corpus
from analogyqa.schemas import CORPUS, SPLITS, write_table
from job import job

with job(snakemake):
    corpus = build_corpus(
        snakemake.wildcards.corpus,
        snakemake.params.reader,
        {split: snakemake.input[split] for split in SPLITS},
        snakemake.params.question_types,
        snakemake.params.questions,
        snakemake.params.drop_all_correct,
    )
    write_table(corpus, CORPUS, snakemake.output[0])
