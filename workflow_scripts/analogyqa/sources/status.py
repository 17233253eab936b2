"""The command behind `make sources`: print the state of every source."""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import typer
from rich import box
from rich.console import Console
from rich.filesize import decimal
from rich.table import Table

from analogyqa.errors import AnalogyQAError
from analogyqa.settings.load import read_config
from analogyqa.sources.registry import (
    Source,
    join_mirrors,
    load_registry,
    local_copy,
    mirrors_from,
)
from analogyqa.sources.verify import Refused, sidecar, verify_file

# Explanations of a state or hash in the table, printed above the paths that have it.
NOTES = {
    "WRONG": "not the registered file; remove or replace it:",
    "unverified": "no hash is published, so the file cannot be verified:",
    "drop in": "no URL is known; if you have the file, put it here:",
}


class Status(NamedTuple):
    """The state of one source."""

    name: str
    state: str  # present, in mirror, to download, drop in
    bytes: int | None
    hash: str  # ok, WRONG, as fetched, not checked, unverified; empty without a file
    licence: str
    path: Path  # the local copy, or where to put one


def status_table(
    registry: Mapping[str, Source],
    resources_dir: str | Path,
    mirrors: Sequence[Path],
    verify: bool = False,
) -> list[Status]:
    """Return the state of every source, after hashing local copies if `verify` is set."""
    rows = []
    for name, source in registry.items():
        path = target = Path(resources_dir, source.file)
        state, size, hash_state = "to download" if source.urls else "drop in", source.bytes, ""
        if copy := local_copy(source, resources_dir, mirrors):
            path, size = copy, copy.stat().st_size
            state = "present" if copy == target else "in mirror"
            was_fetched = copy == target and sidecar(resources_dir, source).exists()
            hash_state = "ok" if verify else "as fetched" if was_fetched else "not checked"
            if verify and not _is_registered_file(source, copy):
                hash_state = "WRONG"
            elif source.unverified:
                hash_state = "unverified"
        rows.append(Status(name, state, size, hash_state, source.licence, path))
    return rows


def _is_registered_file(source: Source, copy: Path) -> bool:
    try:
        verify_file(source, copy)
    except Refused:
        return False
    return True


def main(
    config: Annotated[
        Path, typer.Option(help="The YAML file that names resources_dir and mirrors.")
    ] = Path("config.yaml"),
    registry: Annotated[Path, typer.Option(help="The registry of sources.")] = Path("sources.yaml"),
    verify: Annotated[bool, typer.Option("--verify", help="Hash every local copy.")] = False,
) -> None:
    """Print which sources are present, in a mirror, to download, or to be added by hand.

    Exits with status 1 when --verify finds a wrong file.
    """
    try:
        sources = load_registry(registry)
        settings = read_config(config)
        mirrors = mirrors_from(settings.mirrors, os.environ)
        rows = status_table(sources, settings.resources_dir, mirrors, verify)
    except (AnalogyQAError, OSError) as error:
        sys.exit(str(error))
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for heading in ("source", "state", "size", "hash"):
        table.add_column(heading, no_wrap=True, justify="right" if heading == "size" else "left")
    table.add_column("licence")
    for row in rows:
        size = decimal(row.bytes) if row.bytes else "?"
        table.add_row(row.name, row.state, size, row.hash, row.licence)
    Console().print(table)
    print(f"present: in {settings.resources_dir}; mirrors: {join_mirrors(mirrors)}")
    for word, note in NOTES.items():
        if paths := [f"  {row.path}" for row in rows if word in (row.state, row.hash)]:
            print(f"{word}: {note}", *paths, sep="\n")
    if any(row.hash == "WRONG" for row in rows):
        raise typer.Exit(1)
