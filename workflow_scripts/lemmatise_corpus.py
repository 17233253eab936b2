"""Replace the texts of a corpus by their lemmas."""

from pathlib import Path

from analogyqa.job import find_spacy_model, job
from analogyqa.rewriting.annotate import lemmatise_corpus
from analogyqa.schemas import CORPUS, read_table, write_table

with job(snakemake) as settings:
    stop_words = None
    for path in snakemake.input.stop_words:
        stop_words = set(Path(path).read_text(encoding="utf-8").split())
    corpus = read_table(snakemake.input.corpus, CORPUS)
    model = find_spacy_model(snakemake, "lemmas (lemmas.model)")
    words, content = lemmatise_corpus(corpus, model, settings["keep"], stop_words)
    write_table(words, CORPUS, snakemake.output.words)
    write_table(content, CORPUS, snakemake.output.content)
