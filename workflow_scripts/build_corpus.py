"""Read the splits of a data set into the corpus table."""

from analogyqa.corpora.table import build_corpus
from analogyqa.files import write_json
from analogyqa.job import job
from analogyqa.schemas import CORPUS, SPLITS, write_table

with job(snakemake) as settings:
    corpus = build_corpus(
        snakemake.wildcards.corpus,
        settings["reader"],
        {split: files for split in SPLITS if (files := snakemake.input[split])},
        settings["question_types"],
        snakemake.params.questions,
        settings["drop_all_correct"],
        settings["parts"],
        settings.get("options"),
        settings["fold"],
        settings["train_share"],
    )
    write_table(corpus, CORPUS, snakemake.output.corpus)
    write_json(snakemake.output.record, {"settings": settings})
