"""The configuration of a results folder, as written by any version or damaged by anyone."""

import json

import pytest

from analogyqa.errors import AnalogyQAError
from analogyqa.report.stored import CONFIGURATION, read_configuration, store_configuration
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
    store_configuration(tmp_path, VALUES, {"bm25": "why"}, "make it")
    config, papers, command = read_configuration(tmp_path)
    assert config.left_out["bm25"] == "why" and "bm25" not in config.systems
    assert ([*papers], command) == (VALUES["papers"], "make it")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"left_out": None}, "left_out"),
        ({"left_out": {"a": 1}}, "left_out"),
        ({"values": []}, "values"),
        ({"command": 3}, "command"),
        # Settings of another version.
        ({"values": VALUES | {"axes": 1}}, "unknown key axes"),
        ({"values": VALUES | {"papers": ["old"]}}, "'old'"),
    ],
)
def test_a_value_that_this_version_does_not_know_is_named(tmp_path, changes, expected):
    content = {"values": VALUES, "left_out": {}, "command": "make it"}
    assert expected in message(tmp_path, content | changes)
    (key,) = changes
    assert f"key {key} is missing" in message(tmp_path, {k: content[k] for k in {*content} - {key}})


@pytest.mark.parametrize("text", ["", "[]"])
def test_a_damaged_file_is_named(tmp_path, text):
    message(tmp_path, text)
