"""`analogyqa verify`."""

import json
from pathlib import Path
from typing import Annotated

import typer

from analogyqa.cli.options import JsonOption, counted
from analogyqa.report.stored import read_configuration
from analogyqa.settings.load import from_here


def verify(
    results: Annotated[Path, typer.Argument(help="The output folder of a run.")],
    as_json: JsonOption = False,
) -> None:
    """Compute measures, ledger, claims and tables again, and compare them with the files.

    The means of the demo are also compared with those that the repository expects. Exits with 1 if
    a file disagrees. Example: `analogyqa verify results/demo`
    """
    from analogyqa.report import verify as verifying
    from analogyqa.report.expected import EXPECTED, is_sample

    config, papers, _ = read_configuration(results)
    differences = list(verifying.verify(results, config, papers))
    if as_json:
        print(json.dumps([difference._asdict() for difference in differences], indent=2))
    else:
        for difference in differences:
            print(f"{difference.file}: {difference.what}")
        if not (results / "ledger.csv").exists():
            waiting = len(verifying.missing_runs(results, config, papers))
            print(f"{counted(waiting, 'run is', 'runs are')} not finished; no tables are checked.")
        count = counted(len(differences), "difference", "differences")
        print(f"{results}: {count if differences else 'no differences'}")
        if not differences and is_sample(results):
            print(f"The means match those in {from_here(EXPECTED)}.")
    if differences:
        raise typer.Exit(1)
