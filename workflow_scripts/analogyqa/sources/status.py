"""What `make sources` prints."""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import typer
from rich import box
from rich.console import Console
from rich.filesize import decimal
from rich.table import Table

from analogyqa.errors import AnalogyQAError
from analogyqa.settings.run import read_config
from analogyqa.sources.registry import Source, listed, load_registry, local_copy, mirrors_from
from analogyqa.sources.verify import Refused, sidecar, verify_file


class Status(NamedTuple):
    """The state of one source."""

    name: str
    state: Literal["present", "in mirror", "to download", "drop in"]
    bytes: int | None
    licence: str
    hash: Literal["ok", "WRONG", "as fetched", "not checked", "unverified", ""]
    path: Path  # of the local copy, or where to drop it in


def status_table(
    registry: Mapping[str, Source],
    resources_dir: str | Path,
    mirrors: Sequence[Path],
    verify: bool = False,
) -> list[Status]:
    """Return the state of every source; with `verify`, local copies are hashed."""
    return [_status(source, resources_dir, mirrors, verify) for source in registry.values()]


def _status(
    source: Source, resources_dir: str | Path, mirrors: Sequence[Path], verify: bool
) -> Status:
    target = Path(resources_dir, source.file)
    copy = local_copy(source, resources_dir, mirrors)
    if copy is None:
        state = "to download" if source.urls else "drop in"
        return Status(source.name, state, source.bytes, source.licence, "", target)
    if verify:
        try:
            verify_file(source, copy)
            checked = "unverified" if source.unverified else "ok"
        except Refused:
            checked = "WRONG"
    elif source.unverified:
        checked = "unverified"
    else:
        fetched = copy == target and sidecar(resources_dir, source).exists()
        checked = "as fetched" if fetched else "not checked"
    state = "present" if copy == target else "in mirror"
    return Status(source.name, state, copy.stat().st_size, source.licence, checked, copy)


def _print_status(
    rows: Sequence[Status], resources_dir: str | Path, mirrors: Sequence[Path]
) -> None:
    table = Table("source", "state", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("size", justify="right")
    table.add_column("hash")
    table.add_column("licence")
    for column in table.columns[:4]:
        column.no_wrap = True
    for row in rows:
        size = decimal(row.bytes) if row.bytes else "?"
        table.add_row(row.name, row.state, size, row.hash, row.licence)
    console = Console()
    console.print(table)
    lines = [f"present: in {resources_dir}; mirrors: {listed(mirrors)}"]
    wrong = [f"  {row.path}" for row in rows if row.hash == "WRONG"]
    if wrong:
        lines += ["WRONG: another file than the one registered; remove or replace:", *wrong]
    if any(row.hash == "unverified" for row in rows):
        lines.append("unverified: no hash of the file is published, so it is taken as it is")
    missing = [f"  {row.path}" for row in rows if row.state == "drop in"]
    if missing:
        lines += ["drop in: no URL is known; if you have the file, put it here:", *missing]
    print("\n".join(lines))


def main(
    config: Annotated[
        Path, typer.Option(help="The YAML file that names resources_dir and mirrors.")
    ] = Path("config.yaml"),
    registry: Annotated[Path, typer.Option(help="The registry of sources.")] = Path("sources.yaml"),
    verify: Annotated[bool, typer.Option("--verify", help="Hash every local copy.")] = False,
) -> None:
    """Print which sources are present, in a mirror, to download, or to drop in by hand.

    Exits with 1 when --verify finds a wrong file.
    """
    try:
        sources = load_registry(registry)
        settings = read_config(config)
        resources_dir = settings.resources_dir
        mirrors = mirrors_from(settings.mirrors, os.environ)
        rows = status_table(sources, resources_dir, mirrors, verify)
    except (AnalogyQAError, OSError) as error:
        print(error, file=sys.stderr)
        raise typer.Exit(1) from error
    _print_status(rows, resources_dir, mirrors)
    if any(row.hash == "WRONG" for row in rows):
        raise typer.Exit(1)
