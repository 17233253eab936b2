"""Replace the question words of typed questions."""

from analogyqa.corpora.questions import restrict_to_fold
from analogyqa.job import job
from analogyqa.rewriting.questions import rewrite_questions
from analogyqa.schemas import CORPUS, ENTITIES, read_table, write_table
from analogyqa.vectors.store import read_store

with job(snakemake) as settings:
    vectors, word_ids = read_store(snakemake.input.vectors)
    corpus = read_table(snakemake.input.corpus, CORPUS)
    entities = read_table(snakemake.input.entities, ENTITIES)
    if settings["fold"]:
        entities = restrict_to_fold(entities, corpus)
    rewritten = rewrite_questions(
        corpus,
        entities,
        vectors,
        word_ids,
        snakemake.wildcards.rewriting,
        settings["lowercase"],
        [word for words in settings["question_types"].values() for word in words],
    )
    write_table(rewritten, CORPUS, snakemake.output[0])
