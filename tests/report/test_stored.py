"""The configuration of a results folder, as written by any version or damaged by anyone."""

import json

import pytest

from analogyqa.errors import AnalogyQAError
from analogyqa.report.stored import CONFIGURATION, read_configuration, stored_configuration
from analogyqa.settings.load import REPOSITORY, read_values

VALUES = read_values(REPOSITORY / "sample" / "config.yaml")[0]


def message(results, content: object) -> str:
    path = results / CONFIGURATION
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    with pytest.raises(AnalogyQAError) as caught:
        read_configuration(results)
    assert str(path) in str(caught.value)
    assert "run the workflow of this folder again" in str(caught.value)
    return str(caught.value)


def test_what_is_written_is_read_again(tmp_path):
    text = stored_configuration(VALUES, {"bm25": "why"}, "make it")
    (tmp_path / CONFIGURATION).write_text(text)
    config, papers, command = read_configuration(tmp_path)
    assert config.left_out["bm25"] == "why" and "bm25" not in config.systems
    assert ([*papers], command) == (VALUES["papers"], "make it")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("left_out", None),
        ("left_out", ["a"]),
        ("left_out", {"a": 1}),
        ("values", []),
        ("command", 3),
    ],
)
def test_a_value_of_another_type_is_named(tmp_path, key, value):
    content = {"values": VALUES, "left_out": {}, "command": "make it", key: value}
    assert f"{CONFIGURATION}: {key}" in message(tmp_path, content)
    del content[key]
    assert f"key {key} is missing" in message(tmp_path, content)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '"values"'])
def test_a_damaged_file_is_named(tmp_path, text):
    message(tmp_path, text)


@pytest.mark.parametrize(
    ("changes", "key"), [({"axes": 1}, "unknown key axes"), ({"papers": ["old"]}, "'old'")]
)
def test_settings_of_another_version_are_named_with_the_file(tmp_path, changes, key):
    content = {"values": VALUES | changes, "left_out": {}, "command": "make it"}
    assert key in message(tmp_path, content)
