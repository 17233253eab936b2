"""Find the named entities in the candidates of typed questions."""

from analogyqa.files import write_json
from analogyqa.job import find_spacy_model, job
from analogyqa.rewriting.annotate import find_entities, model_record
from analogyqa.schemas import CORPUS, ENTITIES, read_table, write_table

with job(snakemake) as settings:
    model = find_spacy_model(snakemake, "named entities (named_entities.model)")
    labels = settings["labels"]
    entities = find_entities(read_table(snakemake.input.corpus, CORPUS), model, labels)
    write_table(entities, ENTITIES, snakemake.output.entities)
    write_json(snakemake.output.record, model_record(model, labels))
