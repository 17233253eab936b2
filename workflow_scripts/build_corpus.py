"""Read the splits of a data set into the corpus table."""

from analogyqa.corpora.table import build_corpus
from analogyqa.files import write_json
from analogyqa.job import job
from analogyqa.schemas import CORPUS, SPLITS, write_table

with job(snakemake) as given:
    files = dict(snakemake.input.items())
    corpus = build_corpus(
        snakemake.wildcards.corpus,
        given.reader,
        {split: files[split] for split in SPLITS if split in files},
        given.question_types,
        given.questions,
        given.drop_all_correct,
        given.parts,
        given.options,
        given.fold,
        given.train_share,
    )
    write_table(corpus, CORPUS, snakemake.output.corpus)
    write_json(snakemake.output.record, {"configured": given.configured})
