"""The values that claims compare: scores and norms by question, and costs by step."""

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from analogyqa.cells import Cell
from analogyqa.evaluation.summary import Values
from analogyqa.runs.cost import Costs
from analogyqa.schemas import INSIDE, read_table
from analogyqa.settings.coordinates import NORM


def norms_of(inside: pd.DataFrame) -> pd.DataFrame:
    """Return the norm of each question with a correct answer, and the mean norm of these answers.

    From a table INSIDE to the columns `question` and `answer`, by question_id.
    """
    parts = {"question": inside["kind"] == "question", "answer": inside["label"] == 1}
    means = {
        name: inside[part].groupby("question_id")["norm"].mean() for name, part in parts.items()
    }
    return pd.DataFrame(means).dropna()


def with_norms_and_costs(values: Values, insides: Iterable[str | Path], costs: Costs) -> Values:
    """Return a function that looks up scores, norms and costs by cell and `Coordinates.measured`.

    `values` looks up the scores; `insides` are paths of inside.parquet, each in its run's folder.
    """
    others = {}
    for path in insides:
        norms = norms_of(read_table(path, INSIDE))
        for kind in norms:
            others[Cell.from_path(Path(path).parent), f"{NORM} of {kind}s"] = norms[[kind]].T
    for (dataset, subset, system), cost in costs.items():
        measured = "seconds_per_epoch"
        others[Cell(system, dataset, subset), measured] = pd.DataFrame([cost.values(measured)])

    return lambda cell, measured: others.get((cell, measured), values(cell, measured))
