"""`analogyqa sources`."""

import os
import textwrap
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.filesize import decimal
from rich.table import Table

from analogyqa.cli.options import CONFIG, ConfigOption
from analogyqa.settings.load import read_config
from analogyqa.sources.registry import join_mirrors, load_registry, mirrors_from
from analogyqa.sources.status import status_table

# Explanations of a state or hash in the table, printed above the paths that have it.
NOTES = {
    "WRONG": "not the registered file; remove or replace it:",
    "unverified": "no hash is published, so the file cannot be verified:",
    "add by hand": "no URL is known; if you have the file, put it here:",
}


def sources(
    config: ConfigOption = CONFIG,
    registry: Annotated[Path, typer.Option(help="The registry of sources.")] = Path("sources.yaml"),
    verify: Annotated[bool, typer.Option("--verify", help="Hash every local copy.")] = False,
) -> None:
    """Print which downloads are here, which will be fetched, their sizes and licences.

    Exits with 1 when `--verify` finds a wrong file. Example: `analogyqa sources --verify`
    """
    settings = read_config(config)
    known = load_registry(registry)
    mirrors = mirrors_from(settings.mirrors, os.environ)
    rows = status_table(known, settings.resources_dir, mirrors, verify)
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("source", overflow="fold")
    for heading in ("state", "size", "hash"):
        table.add_column(heading, no_wrap=True, justify="right" if heading == "size" else "left")
    for row in rows:
        size = decimal(row.bytes) if row.bytes else "?"
        table.add_row(row.name, row.state, size, row.hash)
    Console().print(table)
    print("licences:")
    lines = textwrap.TextWrapper(80, subsequent_indent="    ", break_on_hyphens=False)
    for licence in dict.fromkeys(row.licence for row in rows):
        names = ", ".join(row.name for row in rows if row.licence == licence)
        print(lines.fill(f"  {licence}: {names}"))
    print(f"present: in {settings.resources_dir}; mirrors: {join_mirrors(mirrors)}")
    for word, note in NOTES.items():
        if paths := [f"  {row.path}" for row in rows if word in (row.state, row.hash)]:
            print(f"{word}: {note}", *paths, sep="\n")
    if any(row.hash == "WRONG" for row in rows):
        raise typer.Exit(1)
