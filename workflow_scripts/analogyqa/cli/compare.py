"""`analogyqa compare`."""

import json
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from analogyqa.cli.options import JsonOption, counted
from analogyqa.report.stored import read_configuration


def compare(
    first: Annotated[Path, typer.Argument(help="An output folder.")],
    second: Annotated[Path, typer.Argument(help="Another output folder.")],
    as_json: JsonOption = False,
) -> None:
    """Compare the results of two output folders, cell by cell, with paired tests.

    Says what differs in configuration, data, packages and code. Exits with 1 if a cell differs.
    Example: `analogyqa compare results/demo results/three`
    """
    from analogyqa.report.compare_folders import ONLY_FIRST, ONLY_SECOND, compare_folders

    config, _, _ = read_configuration(first)
    equal, different = compare_folders(first, second, config)
    if as_json:
        cells = [difference._asdict() for difference in different]
        print(json.dumps({"equal": equal, "different": cells}, indent=2))
    else:
        alone = Counter(difference.state for difference in different)
        shared = [cell for cell in different if cell.state not in (ONLY_FIRST, ONLY_SECOND)]
        for cell, state, values, because in shared:
            print(f"{cell}: {_text(values) if values else state}")
            for reason in because:
                print(f"    {reason}")
        same = counted(equal, "cell has", "cells have")
        print(f"{same} equal scores, {counted(len(shared), 'differs', 'differ')}")
        for state, folder in {ONLY_FIRST: first, ONLY_SECOND: second}.items():
            if alone[state]:
                count = counted(alone[state], "cell is", "cells are")
                print(f"{count} only in {folder} (--json shows which)")
    if different:
        raise typer.Exit(1)


def _text(values: dict) -> str:
    if values["low"] == values["high"] == 0:
        return "the scores differ, but {measure} is the same: {first:.3f}".format_map(values)
    return (
        "{measure} {first:.3f}, now {second:.3f}: {difference:+.3f} [{low:.3f}, {high:.3f}], "
        "p = {p_value:.3g}"
    ).format_map(values)
