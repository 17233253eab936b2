"""`analogyqa archive`."""

from pathlib import Path
from typing import Annotated

import typer
from rich.filesize import decimal

from analogyqa.errors import AnalogyQAError
from analogyqa.report.stored import read_configuration


def archive(
    results: Annotated[Path, typer.Argument(help="The output folder of a finished run.")],
    to: Annotated[
        Path | None, typer.Option(help="The file to write; by default RESULTS.crate.zip.")
    ] = None,
) -> None:
    """Write results, configuration, records and code into an RO-Crate, without data of others.

    Prints what is left out and why. `analogyqa verify` works on the unpacked archive.
    Example: `analogyqa archive results/demo --to demo.crate.zip`
    """
    from analogyqa.report.archived import sort_files, why_left_out
    from analogyqa.report.crate import write_crate
    from analogyqa.report.verify import missing_runs
    from analogyqa.settings.load import REPOSITORY
    from analogyqa.sources.registry import load_registry

    config, papers, command = read_configuration(results)
    if missing := missing_runs(results, config, papers):
        raise AnalogyQAError(
            f"{results}: {len(missing)} runs are missing, such as {missing[0]}. "
            f"Finish them first: {command}"
        )
    target = to or results.with_name(f"{results.name}.crate.zip")
    contents = sort_files(results, papers.values())
    registry = load_registry(REPOSITORY / "sources.yaml")
    write_crate(results, contents, command, registry, target)
    print("Left out:")
    for pattern, names in contents.left_out.items():
        size = decimal(sum((results / name).stat().st_size for name in names))
        reason = why_left_out(pattern)[0]
        print(f"  {pattern or ', '.join(names)}: {reason} ({len(names)} files, {size})")
    print(f"{target}: {decimal(target.stat().st_size)}. README.md in it says how to check it.")
