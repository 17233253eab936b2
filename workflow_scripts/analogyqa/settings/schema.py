"""JSON schemas of the configuration files, by which editors check and complete them."""

import json
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, models_json_schema
from pydantic_core import core_schema

from analogyqa.settings.base import Section
from analogyqa.settings.load import DEFAULTS, DERIVED, STUDIES
from analogyqa.settings.paper import Paper
from analogyqa.settings.run import Config
from analogyqa.settings.studies import Studies

NULL = {"type": "null"}
# Pydantic leaves its own words where a validator comes before them.
KEYWORDS = GenerateJsonSchema.ValidationsMapping.numeric


class _Untitled(GenerateJsonSchema):
    """Keys have no titles, which would only repeat their names."""

    def field_title_should_be_set(self, schema: object) -> bool:
        return False


class _Partial(_Untitled):
    """Files are laid over each other, so no key is required, and null removes an entry."""

    def field_is_required(self, field: object, total: bool) -> bool:
        return False

    def dict_schema(self, schema: core_schema.DictSchema) -> dict[str, Any]:
        made = super().dict_schema(schema)
        if isinstance(made.get("additionalProperties"), dict):
            made["additionalProperties"] = _or_null(made["additionalProperties"])
        for pattern, values in made.get("patternProperties", {}).items():
            made["patternProperties"][pattern] = _or_null(values)
        return made


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [schema, NULL]}


def config_schema() -> dict[str, Any]:
    """Return the schema of config.yaml, of files laid over it, and of a paper's config.yaml."""
    sections: list[type[Section]] = [Config, Studies, *DEFAULTS.values()]
    keys, schema = models_json_schema(
        [(section, "validation") for section in sections], schema_generator=_Partial
    )
    definitions = schema["$defs"]
    run, studies = (definitions.pop(section.__name__)["properties"] for section in sections[:2])
    by_key = {"type": "object", "additionalProperties": run["seeds"]}
    seeds = {"anyOf": [run["seeds"], by_key], "description": run["seeds"].pop("description")}
    defaults = {
        name: keys[section, "validation"] | {"description": f"The default {name} of systems."}
        for name, section in DEFAULTS.items()
    }
    over = {"type": "string", "description": "The paper whose configuration a paper's changes."}
    run = {name: values for name, values in run.items() if name not in DERIVED}
    studies = {name: studies[name] for name in STUDIES}
    for study in ("Sensitivity", "CrossValidation"):
        of_study = definitions[study]["properties"]
        text = of_study["datasets"].pop("description")
        of_study["datasets"] = _or_null(of_study["datasets"]) | {"description": text}
    properties = run | {"seeds": seeds} | defaults | studies | {"over": over}
    return _complete("The configuration of a run or a paper", properties, definitions)


def paper_schema() -> dict[str, Any]:
    """Return the schema of a paper.yaml."""
    schema = Paper.model_json_schema(schema_generator=_Untitled)
    properties, definitions = schema["properties"], schema["$defs"]
    # In the file, views are listed among the artefacts.
    shown = [{"$ref": f"#/$defs/{name}"} for name in ("Artefact", "View")]
    del properties["views"]
    properties["artefacts"]["patternProperties"] = {"": {"anyOf": shown}}
    complete = _complete("A paper", properties, definitions)
    return complete | {"required": schema["required"]}


def _complete(title: str, properties: dict[str, Any], definitions: dict[str, Any]) -> dict:
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        "$defs": definitions,
    }
    return json.loads(
        json.dumps(schema),
        object_hook=lambda node: {KEYWORDS.get(key, key): value for key, value in node.items()},
    )
