"""`analogyqa archive`."""

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.filesize import decimal

from analogyqa.cli.options import counted
from analogyqa.errors import AnalogyQAError
from analogyqa.report.stored import read_configuration


def archive(
    results: Annotated[Path, typer.Argument(help="The output folder of a run.")],
    to: Annotated[
        Path | None, typer.Option(help="The file to write; by default RESULTS.crate.zip.")
    ] = None,
) -> None:
    """Write results, configuration, records and code into an RO-Crate, without third-party data.

    Prints what is archived, and what is left out and why. `analogyqa verify` works on the unpacked
    archive. Example: `analogyqa archive results/demo --to demo.crate.zip`
    """
    from analogyqa.report.archived import sort_files, why_left_out
    from analogyqa.report.crate import write_crate
    from analogyqa.report.verify import missing_runs
    from analogyqa.settings.load import REPOSITORY
    from analogyqa.sources.registry import load_registry

    results = results.resolve()  # a path such as . has no name
    config, papers, command = read_configuration(results)
    if missing := missing_runs(results, config, papers):
        others = f" and {len(missing) - 1} more are" if len(missing) > 1 else " is"
        print(f"{missing[0]}{others} missing. To finish the run: {command}", file=sys.stderr)
    target = to or results.with_name(f"{results.name}.crate.zip")
    if target.is_dir():
        raise AnalogyQAError(f"{target} is a folder. Name a file: --to {target / results.name}.zip")
    contents = sort_files(results, papers.values())
    registry = load_registry(REPOSITORY / "sources.yaml")
    write_crate(results, contents, command, registry, target)
    print("Archived, with the code:")
    for folder, names in contents.archived().items():
        print(f"  {folder + '/*' if folder else ', '.join(names)} ({_size(results, names)})")
    print("Left out:")
    for pattern, names in contents.left_out.items():
        reason = why_left_out(pattern)[0]
        print(f"  {pattern or ', '.join(names)}: {reason} ({_size(results, names)})")
    print(f"{target}: {decimal(target.stat().st_size)}. README.md in it says how to check it.")


def _size(results: Path, names: list[str]) -> str:
    size = decimal(sum((results / name).stat().st_size for name in names))
    return f"{counted(len(names), 'file', 'files')}, {size}"
