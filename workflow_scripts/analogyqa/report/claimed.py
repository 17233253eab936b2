"""What claims compare: scores by question, norms by question, costs by step of training."""

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from analogyqa.measures import MEASURES
from analogyqa.plan import Cell
from analogyqa.report.summary import Values
from analogyqa.runs.cost import Costs
from analogyqa.schemas import read_table
from analogyqa.schemas.inside import INSIDE
from analogyqa.settings.coordinates import NORM


def norms_of(inside: pd.DataFrame) -> pd.DataFrame:
    """Return for each question that has a right answer its norm, and the mean norm of these.

    Args:
        inside: a table of schema INSIDE.

    Returns: columns `question` and `answer`, by question_id.
    """
    parts = {"question": inside["kind"] == "question", "answer": inside["label"] == 1}
    means = {
        name: inside[part].groupby("question_id")["norm"].mean() for name, part in parts.items()
    }
    return pd.DataFrame(means).dropna()


def with_norms_and_costs(values: Values, insides: Iterable[str | Path], costs: Costs) -> Values:
    """Return how to look up scores, and by `Coordinates.measured` norms and costs, too.

    Args:
        values: the scores.
        insides: the files inside.parquet, each in the folder of its run.
        costs: see `runs.cost.read_costs`.
    """
    found = {}
    for path in insides:
        norms = norms_of(read_table(path, INSIDE))
        for whose in norms:
            found[Cell.from_path(Path(path).parent), f"{NORM} of {whose}s"] = norms[[whose]].T
    for (dataset, subset, system), cost in costs.items():
        what = "seconds_per_epoch"
        found[Cell(system, dataset, subset), what] = pd.DataFrame([cost.values(what)])

    def look_up(cell: Cell, measured: str) -> pd.DataFrame | None:
        return values(cell, measured) if measured in MEASURES else found.get((cell, measured))

    return look_up
