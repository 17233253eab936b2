"""`analogyqa leaderboard`."""

import json
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from analogyqa.cli.options import JsonOption, ResultsOption, results_folder
from analogyqa.report.stored import read_configuration


def leaderboard(
    dataset: Annotated[str, typer.Argument(help="A data set, such as wikiqa.")],
    subset: Annotated[str, typer.Option(help="Its questions: a subset of the configuration.")],
    measure: Annotated[str, typer.Option(help="How systems are compared.")],
    results: ResultsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Rank all systems on a data set, with the interval of each rank.

    Example: `analogyqa leaderboard wikiqa --subset comb --measure mrr --results results/demo`
    """
    from analogyqa.report.leaderboard import build_leaderboard

    folder = results_folder(results)
    config, _, _ = read_configuration(folder)
    places = build_leaderboard(folder, dataset, subset, measure, config)
    if as_json:
        print(json.dumps([place._asdict() for place in places], indent=2))
        return
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for heading in ("system", measure, "rank", "first in", "p against the best", "detectable"):
        table.add_column(heading, justify="left" if heading == "system" else "right")
    for place in places:
        is_best = place is places[0]
        table.add_row(
            f"{place.system} *" if place.in_top_group else place.system,
            f"{place.mean:.3f}",
            f"{place.rank_low} to {place.rank_high}",
            f"{place.first:.0%}",
            "" if is_best else f"{place.p_value:.3g}",
            "" if is_best else f"{place.detectable:.3f}",
        )
    Console().print(table)
    print(
        "*: the best, or not significantly different from it (Holm). First in: share of bootstrap "
        "draws over questions and seeds. Detectable: the smallest difference from the best that "
        "would probably have been found."
    )
