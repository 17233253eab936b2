"""`analogyqa why`."""

import json
from typing import Annotated

import typer

from analogyqa.cli.options import JsonOption, ResultsOption, results_folder
from analogyqa.report.stored import read_configuration
from analogyqa.report.trace import find_number, lines_of, origin


def why(
    words: Annotated[
        list[str],
        typer.Argument(
            help="A table or figure, and words that name one of its numbers: a row, a column, a "
            "system, a data set, a subset, a measure, p=20, tuned."
        ),
    ],
    results: ResultsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say where a number comes from: command, seeds, inputs, commit, machine, log.

    Example: `analogyqa why table4 comb analogy --results results/demo`
    """
    folder = results_folder(results)
    config, papers, command = read_configuration(folder)
    number = find_number(folder, config, papers, words)
    facts = origin(folder, number, command)
    if as_json:
        print(json.dumps(facts, indent=2))
        return
    width = max(map(len, facts))
    for key, value in facts.items():
        for line in lines_of(value) or [""]:
            print(f"{key:{width}}  {line}")
            key = ""
