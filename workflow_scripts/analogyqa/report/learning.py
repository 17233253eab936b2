"""Whether a training run has learnt anything, judged by its loss."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd

from analogyqa.plan import Cell, fused_parts
from analogyqa.schemas import HISTORY, read_table
from analogyqa.settings.run import Config

NOT_LEARNT = "did not learn"  # the words on pages; nothing follows from such scores
# A loss above this share of that of a constant energy may differ from it by chance.
NEAR = 0.99


def has_learnt(history: pd.DataFrame) -> bool:
    """Return whether the loss falls below that of one constant energy for all quadruples.

    Args:
        history: Schema HISTORY; the mean over seeds is compared.
    """
    means = history.groupby(["measure", "epoch"], observed=True)["value"].mean()
    return bool(means["loss"].min() < NEAR * means["constant_loss"].iloc[0])


def read_learnt(histories: Iterable[str]) -> dict[Cell, bool]:
    """Return whether each trained cell has learnt, from the paths of history.parquet files."""
    return {
        Cell.from_path(Path(path).parent): has_learnt(read_table(path, HISTORY))
        for path in histories
    }


def has_cell_learnt(cell: Cell, learnt: Mapping[Cell, bool], config: Config) -> bool | None:
    """Return whether a cell and the cells that it fuses have learnt; None if none is trained."""
    parts = (cell, *fused_parts(config, cell).values())
    known = [learnt[part] for part in parts if part in learnt]
    return all(known) if known else None
