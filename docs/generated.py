"""The pages of the reference that are made from the code: configuration and commands."""

import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import dropwhile
from pathlib import Path
from typing import Any

import yaml

from analogyqa.settings.schema import NULL, config_schema, paper_schema

ROOT = Path(__file__).parents[1]
REFERENCE = Path(__file__).parent / "reference"
KEY = re.compile(r'( *)(?:([\w.-]+)|"([^"]+)"):(?= |$)')
COMMENT = re.compile(r"(?:^|\s)# (.*)")
MOST = 10**9  # bounds from here on only exclude nonsense
BOUNDS = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}
INTRODUCTION = """\
# Configuration

`config.yaml` configures a run. `papers/<name>/config.yaml` has the choices of a paper. The file of
a run is laid over those of its papers, and `--configfile` and `--config` of Snakemake over both:

```sh
snakemake --cores 8 --config seeds=3 output_dir=results/three "training={dropout: 0.3}"
```

Mappings are merged key by key, any other value replaces the old one, and `null` removes an entry.
An unknown key is an error that names the nearest known one. Below a key stand the choices of the
papers, with the sentences that they rest on.
"""


def write_pages() -> None:
    """Write the pages that have changed, so that Sphinx reads only those again."""
    REFERENCE.mkdir(exist_ok=True)
    for name, text in (("configuration", configuration_page()), ("commands", commands_page())):
        path = REFERENCE / f"{name}.md"
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")


def commands_page() -> str:
    """Return the page of the command line, by typer's generator."""
    command = [sys.executable, "-m", "typer", "analogyqa.cli", "utils", "docs"]
    options = ["--name", "analogyqa", "--title", "Commands"]
    done = subprocess.run([*command, *options], capture_output=True, text=True, check=True)
    # Its list of commands cuts their descriptions, which follow in full.
    start, _, rest = done.stdout.partition("**Commands**:")
    return start + rest[rest.index("\n## ") :]


def configuration_page() -> str:
    """Return the page of all keys: of a run or a paper, and of paper.yaml."""
    schema, parts = config_schema(), [INTRODUCTION]
    quotations = quoted_choices(schema)
    parts += _sections("config.yaml", schema, quotations)
    parts += _sections("paper.yaml", paper_schema(), {})
    return "\n".join(parts)


def _sections(file: str, schema: dict, quotations: dict[tuple[str, str], list[str]]) -> list[str]:
    parts = [f"## `{file}`\n", *_keys("", schema, quotations)]
    for name, path in section_paths(schema).items():
        section = schema["$defs"][name]
        parts += [
            f"(section-{name.lower()})=\n### `{path}`\n",
            f"{section.get('description', '')}\n",
        ]
        parts += _keys(name, section, quotations)
    return parts


def section_paths(schema: dict) -> dict[str, str]:
    """Return the first path at which each definition of a schema is used, level by level."""
    paths: dict[str, str] = {}
    waiting = [("", schema)]
    for path, node in waiting:
        for key, below in node.get("properties", {}).items():
            for name, names in _definitions(below):
                if name not in paths:
                    paths[name] = f"{path}{key}{names}"
                    waiting.append((f"{paths[name]}.", schema["$defs"][name]))
    return paths


def _definitions(node: Any, names: str = "") -> Iterator[tuple[str, str]]:
    """Yield the definitions that a key refers to, with `.<name>` if it maps names to them."""
    if "$ref" in node:
        yield node["$ref"].rsplit("/", 1)[1], names
    for option in node.get("anyOf", []):
        yield from _definitions(option, names)
    values = [*node.get("patternProperties", {}).values(), node.get("additionalProperties")]
    for value in filter(lambda value: isinstance(value, dict), values):
        yield from _definitions(value, f"{names}.<name>")
    if "items" in node:
        yield from _definitions(node["items"], names)


def _keys(name: str, section: dict, quotations: dict[tuple[str, str], list[str]]) -> Iterator[str]:
    """Yield a definition list of the keys of a section."""
    for key, node in section["properties"].items():
        kind = type_of(node)
        if "default" in node and not isinstance(node["default"], dict):
            kind += f"; default {_value(node['default'])}"
        elif key in section.get("required", ()):
            kind += "; required"
        yield f"`{key}`\n: *{kind}*\n\n  {' '.join(node['description'].split())}\n"
        for quotation in quotations.get((name, key), []):
            yield f"  - {quotation}\n"


def type_of(node: dict) -> str:
    """Return the type of a value in a schema in words, with its bounds."""
    bounds = [f"{BOUNDS[key]} {node[key]:,}" for key in BOUNDS if node.get(key, MOST) < MOST]
    return f"{_type(node)} {', '.join(bounds)}".strip()


def _type(node: dict) -> str:
    if "$ref" in node:
        name = node["$ref"].rsplit("/", 1)[1]
        return f"[section](#section-{name.lower()})"
    if "enum" in node or "const" in node:
        return " | ".join(map(_value, node.get("enum", [node.get("const")])))
    if "anyOf" in node:
        types = " or ".join(_type(option) for option in node["anyOf"] if option != NULL)
        return " or ".join(dict.fromkeys(types.split(" or ")))
    if node.get("type") == "array":
        parts = node.get("prefixItems", [node.get("items") or {}])
        return f"list of {_type(parts[0])}"
    if node.get("type") == "object":
        values = [*node.get("patternProperties", {}).values(), node.get("additionalProperties")]
        below = [_type(value) for value in values if isinstance(value, dict)]
        return " to ".join(["mapping of names", *below[:1]])
    names = {"string": "text", "integer": "whole number", "boolean": "true | false"}
    kind = node.get("type", "any value")
    return names.get(kind, kind)


def _value(value: object) -> str:
    text = yaml.safe_dump(value, default_flow_style=True, width=1000).removesuffix("...\n").strip()
    return f"`{text}`"


def quoted_choices(schema: dict) -> dict[tuple[str, str], list[str]]:
    """Return the comments of the papers' configurations that quote a paper.

    They are by section and key, each with paper and value.
    """
    quoted: dict[tuple[str, str], list[str]] = {}
    for path in sorted((ROOT / "papers").glob("*/config.yaml")):
        text = path.read_text("utf-8")
        values = yaml.safe_load(text)
        for keys, comment in comments(text):
            if '"' in comment and (place := _place(schema, keys)):
                value = _at(values, keys)
                shown = "" if isinstance(value, dict | list) else f" = {_value(value)}"
                head = f"`{'.'.join(keys)}`{shown}, {path.parent.name}"
                quoted.setdefault(place, []).append(f"{head}: {comment}")
    return quoted


def comments(text: str) -> Iterator[tuple[list[str], str]]:
    """Yield the keys that lead to each commented value of a YAML text, and the comment.

    The comment at the top of the text is about the whole file.
    """
    above: list[str] = []  # comment lines right above
    path: list[tuple[int, str]] = []  # indentations and keys
    for line in dropwhile(lambda line: line.startswith("#"), text.splitlines()):
        comment = COMMENT.search(line)
        match = KEY.match(line)
        if match:
            indent = len(match[1])
            path = [part for part in path if part[0] < indent] + [(indent, match[2] or match[3])]
            beside = [comment[1]] if comment else []
            if above or beside:
                yield [key for _, key in path], " ".join(above + beside)
        above = [*above, comment[1]] if comment and not match else []


def _place(schema: dict, keys: list[str]) -> tuple[str, str] | None:
    """Return the section and the key that keys of a file lead to; names of entries are skipped."""
    place, sections, names = None, {"": schema}, 0
    for key in keys:
        if names:
            names -= 1
            continue
        place = next(
            ((name, key) for name, section in sections.items() if key in section["properties"]),
            place,
        )
        below = sections.get(place[0], {}).get("properties", {}).get(key, {}) if place else {}
        found = dict(_definitions(below))
        sections = {name: schema["$defs"][name] for name in found}
        names = max((path.count("<name>") for path in found.values()), default=0)
    return place


def _at(values: Any, keys: list[str]) -> Any:
    for key in keys:
        values = next(value for name, value in values.items() if str(name) == key)
    return values
