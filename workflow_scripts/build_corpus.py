"""Read the splits of a data set into the corpus table."""

import logging

from analogyqa.corpora.folds import count_shared, fold_corpus
from analogyqa.corpora.shares import keep_train_share
from analogyqa.corpora.table import build_corpus
from analogyqa.files import write_json
from analogyqa.job import job
from analogyqa.schemas import CORPUS, SPLITS, write_table
from analogyqa.settings.data import fold_numbers

with job(snakemake) as given:
    corpus = build_corpus(
        snakemake.wildcards.corpus,
        given.reader,
        {split: snakemake.input[split] for split in SPLITS},
        given.question_types,
        given.questions,
        given.drop_all_correct,
        given.parts,
    )
    if given.fold:
        corpus = fold_corpus(corpus, *fold_numbers(given.fold))
        logging.info("test texts that also occur in train or dev: %s", count_shared(corpus))
    corpus = keep_train_share(corpus, given.train_share)
    write_table(corpus, CORPUS, snakemake.output.corpus)
    write_json(snakemake.output.record, {"configured": given.configured})
