"""Find the named entities in the candidates of typed questions."""

import os

from analogyqa.availability import find_model
from analogyqa.files import write_json
from analogyqa.job import job
from analogyqa.rewriting.entities import find_entities, model_record
from analogyqa.schemas import CORPUS, ENTITIES, read_table, write_table
from analogyqa.sources.registry import mirrors_from

with job(snakemake) as given:
    config = snakemake.config
    # The model's path is not a param, so that changing mirrors does not rerun the rule.
    mirrors = mirrors_from(config.get("mirrors", []), os.environ)
    folders = [config["resources_dir"], *mirrors]
    model = find_model(given.model, folders, "named entities (named_entities.model)")
    labels = given.labels
    entities = find_entities(read_table(snakemake.input.corpus, CORPUS), model, labels)
    write_table(entities, ENTITIES, snakemake.output.entities)
    write_json(snakemake.output.record, model_record(model, labels))
