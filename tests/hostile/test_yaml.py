"""YAML that would run code or grow endlessly is refused by name, in the library and in a run."""

import resource
import string
import subprocess
import tracemalloc
from functools import partial
from itertools import pairwise

import pytest

from analogyqa.errors import AnalogyQAError
from analogyqa.files import read_yaml
from analogyqa.settings.load import load_config, read_config
from analogyqa.settings.paper import load_paper
from analogyqa.sources.registry import load_registry
from builders.damaged import mark_most_slow
from builders.projects import SNAKEMAKE, clean_environment

READERS = {"registry": load_registry, "configuration": read_config, "paper": load_paper}

# Values that would run code, which creates the file {marker}.
CODE = {
    "apply": "!!python/object/apply:os.system ['touch {marker}']",
    "tuple": "!!python/tuple [1]",
    "own tag": "!touch {marker}",
}
POSITIONS = {
    "value": "output_dir: {}\n",
    "key": "? {}\n: 1\n",
    "item": "seeds: [1, {}]\n",
    "whole": "{}\n",
    "behind an alias": "a: &a {}\nb: *a\n",
}


def grown(first: str, layer: str) -> str:
    """Return a mapping from a to z, each made of the one before many times."""
    lines = [f"a: &a {first}\n"]
    for before, name in pairwise(string.ascii_lowercase):
        lines.append(f"{name}: &{name} {layer.replace('*', f'*{before}')}\n")
    return "".join(lines)


BOMBS = {
    "lists": grown("[x, x]", "[*, *, *, *, *, *, *, *, *]"),
    "mappings": grown("{x: x}", "{k0: *, k1: *, k2: *, k3: *, k4: *, k5: *, k6: *, k7: *, k8: *}"),
    "itself": "a: &a [*a]\n",
    "itself, deeper": "a: &a {b: {c: [1, *a]}}\n",
    "by a large list": f"a: &a [{'x, ' * 400}]\nb: [{'*a, ' * 400}]\n",
}


@pytest.mark.parametrize(
    ("reader", "code", "position"), mark_most_slow([*READERS], [*CODE], [*POSITIONS])
)
def test_yaml_that_would_run_code_is_refused_and_nothing_is_run(
    tmp_path, marker, reader, code, position
):
    path = tmp_path / "it.yaml"
    path.write_text(POSITIONS[position].format(CODE[code].format(marker=marker)))
    with pytest.raises(AnalogyQAError, match=r"it\.yaml: cannot be read as a YAML mapping"):
        READERS[reader](path)
    assert not marker.exists()


@pytest.mark.parametrize(("reader", "bomb"), mark_most_slow([*READERS], [*BOMBS]))
def test_a_bomb_of_aliases_is_refused_with_little_memory(tmp_path, reader, bomb):
    path = tmp_path / "it.yaml"
    path.write_text(BOMBS[bomb])
    tracemalloc.start()
    try:
        with pytest.raises(AnalogyQAError, match=r"it\.yaml: its aliases .* expand to more than"):
            READERS[reader](path)
        assert tracemalloc.get_traced_memory()[1] < 20 << 20
    finally:
        tracemalloc.stop()


def test_shared_values_count_at_each_use():
    value: object = "x"
    for _ in range(40):
        value = [value, value]
    with pytest.raises(AnalogyQAError, match="config: its aliases"):
        load_config({"training": {"loss": value}})


def test_ordinary_aliases_are_read(tmp_path):
    path = tmp_path / "it.yaml"
    path.write_text("a: &a {x: 1}\nb: *a\nc: {<<: *a, y: [*a, *a]}\n")
    assert read_yaml(path) == {"a": {"x": 1}, "b": {"x": 1}, "c": {"x": 1, "y": [{"x": 1}] * 2}}


@pytest.mark.slow
@pytest.mark.parametrize("case", ["apply", "own tag", "lists", "itself"])
def test_a_run_with_a_hostile_configuration_stops_before_any_job(tmp_path, marker, case):
    path = tmp_path / "it.yaml"
    code = POSITIONS["value"].format(CODE.get(case, "").format(marker=marker))
    path.write_text(code if case in CODE else BOMBS[case])
    command = [*SNAKEMAKE, "--configfile", str(path), "--cores", "1"]
    options = {"cwd": tmp_path, "env": clean_environment(), "text": True, "timeout": 300}
    limit = partial(resource.setrlimit, resource.RLIMIT_AS, (8 << 30, 8 << 30))
    done = subprocess.run(command, capture_output=True, preexec_fn=limit, **options)
    assert done.returncode != 0
    message = done.stdout + done.stderr
    refusals = ("is not allowed", "is not valid", "its aliases", "cannot be read as a YAML mapping")
    assert any(text in message for text in refusals)
    assert not marker.exists()
    assert not (tmp_path / "results").exists()
