"""The scripts of the rules: what they import is there."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

SCRIPTS = sorted((Path(__file__).parents[1] / "workflow_scripts").glob("*.py"))


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_every_name_that_a_script_imports_exists(path):
    imports = [
        (node.module, alias.name)
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("analogyqa")
        for alias in node.names
    ]
    assert [pair for pair in imports if not hasattr(import_module(pair[0]), pair[1])] == []
