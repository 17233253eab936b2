"""Whether a training has learnt anything, by its history."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd

from analogyqa.plan import Cell, fused_parts
from analogyqa.schemas import HISTORY, read_table
from analogyqa.settings.run import Config

NOT_LEARNT = "did not learn"  # how tables and pages say it: nothing follows from such scores
# A loss this near to that of a constant has left it by chance alone.
NEAR = 0.99


def has_learnt(history: pd.DataFrame) -> bool:
    """Return whether the loss comes below what one energy for all quadruples gives.

    Args:
        history: of schema HISTORY; the mean over seeds counts.
    """
    means = history.groupby(["measure", "epoch"], observed=True)["value"].mean()
    return bool(means["loss"].min() < NEAR * means["constant_loss"].iloc[0])


def learnt_of(histories: Iterable[str]) -> dict[Cell, bool]:
    """Return the cells of history.parquet files, `runs/` being in their paths, and `has_learnt`."""
    return {
        Cell.from_path(Path(path).parent): has_learnt(read_table(path, HISTORY))
        for path in histories
    }


def rests_on_learnt(cell: Cell, learnt: Mapping[Cell, bool], config: Config) -> bool:
    """Return whether a cell has learnt, or all that it fuses; what is not trained has."""
    cells = (cell, *fused_parts(config, cell).values())
    return all(learnt.get(each, True) for each in cells)
