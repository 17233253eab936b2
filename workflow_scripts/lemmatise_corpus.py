"""Replace the texts of a corpus by their lemmas."""

from analogyqa.job import job
from analogyqa.rewriting.lemmas import lemmatise_corpus
from analogyqa.schemas import CORPUS, read_table, write_table

with job(snakemake) as given:
    corpus = read_table(snakemake.input.corpus, CORPUS)
    words, content = lemmatise_corpus(corpus, given.model, given.keep)
    write_table(words, CORPUS, snakemake.output.words)
    write_table(content, CORPUS, snakemake.output.content)
