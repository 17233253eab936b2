"""Find the named entities of the candidates.

input: corpus, the files of the model where it is no package
output: entities/{dataset}.parquet, entities/{dataset}.json
"""

import os

from analogyqa.availability import find_model
from analogyqa.files import write_json
from analogyqa.job import job
from analogyqa.rewriting.entities import find_entities, model_record
from analogyqa.schemas import CORPUS, ENTITIES, read_table, write_table
from analogyqa.sources.registry import mirrors_from

with job(snakemake) as given:
    config = snakemake.config
    # Where the model lies is no param: another mirror must not find the entities again.
    mirrors = mirrors_from(config.get("mirrors", []), os.environ)
    folders = [config["resources_dir"], *mirrors]
    model = find_model(given.model, folders, "named entities (named_entities.model)")
    labels = given.labels
    entities = find_entities(read_table(snakemake.input.corpus, CORPUS), model, labels)
    write_table(entities, ENTITIES, snakemake.output.entities)
    write_json(snakemake.output.record, model_record(model, labels))
