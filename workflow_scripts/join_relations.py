"""Join the categories of a data set into a corpus, and write a page of pairs for review."""

from analogyqa.corpora.relations import read, relations_corpus, review_page
from analogyqa.files import write_text
from analogyqa.job import job
from analogyqa.schemas import CORPUS, write_table

with job(snakemake) as settings:
    titles = settings["titles"]
    files = dict(zip(titles, snakemake.input.files, strict=True))
    write_table(relations_corpus(files), CORPUS, snakemake.output.corpus)
    pairs = {titles[name]: read(path) for name, path in files.items()}
    write_text(snakemake.output.review, review_page(pairs))
