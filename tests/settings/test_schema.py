"""The JSON schemas of the configuration files, by which editors complete and check them."""

import json
import re
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from typer.testing import CliRunner

from analogyqa import cli
from analogyqa.files import read_yaml
from analogyqa.settings.load import REPOSITORY

PAPERS = sorted((REPOSITORY / "papers").glob("*/*.yaml"))
RUNS = [REPOSITORY / "config.yaml", REPOSITORY / "sample" / "config.yaml"]
RUNS += sorted((REPOSITORY / "papers").glob("*.yaml"))
RUNS += [
    path for path in (REPOSITORY / "benchmarks").glob("*.yaml") if "output_dir" in read_yaml(path)
]


def read_schema(name: str) -> dict:
    return json.loads((REPOSITORY / "schemas" / f"{name}.schema.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def validators() -> dict[str, Draft202012Validator]:
    return {name: Draft202012Validator(read_schema(name)) for name in ("config", "paper")}


@pytest.mark.parametrize("name", ["config", "paper"])
def test_a_schema_is_valid_and_current(name):
    Draft202012Validator.check_schema(read_schema(name))
    printed = CliRunner().invoke(cli.app, ["schema", name]).stdout
    assert json.loads(printed) == read_schema(name), f"run `analogyqa schema {name}` again"


@pytest.mark.parametrize(
    "path", [*RUNS, *PAPERS], ids=lambda path: f"{path.parent.name}/{path.name}"
)
def test_the_schema_that_a_file_names_accepts_it(path, validators):
    line = path.read_text("utf-8").splitlines()[0]
    schema = Path(re.fullmatch(r"# yaml-language-server: \$schema=(\S+)", line)[1])
    assert (path.parent / schema).resolve().parent == REPOSITORY / "schemas"
    validator = validators[schema.name.split(".")[0]]
    assert [error.message for error in validator.iter_errors(read_yaml(path))] == []


def test_every_key_is_described(validators):
    def undescribed(node: object, path: str = "") -> list[str]:
        if isinstance(node, list):
            return [key for part in node for key in undescribed(part, path)]
        if not isinstance(node, dict):
            return []
        nested = [key for name, part in node.items() for key in undescribed(part, f"{path}.{name}")]
        properties = node.get("properties", {})
        return nested + [
            f"{path}.{name}" for name, part in properties.items() if "description" not in part
        ]

    assert [undescribed(validator.schema) for validator in validators.values()] == [[], []]


@pytest.mark.parametrize(
    ("values", "is_valid"),
    [
        ({"seeds": 3}, True),
        ({"seeds": {"default": 5, "comb": [1, 2]}}, True),
        ({"seeds": "three"}, False),
        ({"sedes": 3}, False),
        ({"systems": {"analogy": {"ranker": {"titel": "x"}}}}, False),
        ({"systems": {"analogy": None}}, True),
        ({"systems": {"analogy": {"ranker": {"aggregate": "mean"}}}}, True),
        ({"systems": {"analogy": {"ranker": "cosin"}}}, False),
        ({"training": {"dropout": 1.5}}, False),
    ],
)
def test_values_are_checked(values, is_valid, validators):
    assert validators["config"].is_valid(values) == is_valid
