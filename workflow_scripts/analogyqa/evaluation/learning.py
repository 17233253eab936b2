"""Whether training runs have learnt anything, judged by their losses."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd

from analogyqa.cells import Cell
from analogyqa.evaluation.summary import read_record
from analogyqa.runs.record import run_system
from analogyqa.schemas import HISTORY, read_table
from analogyqa.settings.run import Config

NOT_LEARNT = "did not learn"  # the words on pages; nothing follows from such scores
# A loss above this share of that of a constant energy may differ from it by chance.
NEAR = 0.99


def kept_epochs(history: pd.DataFrame, select_by: str) -> pd.Series:
    """Return the epoch whose weights score test, by seed: the first with the best dev value.

    Args:
        history: Schema HISTORY.
        select_by: The measure that selects the epoch, a key of `MEASURES`.
    """
    dev = history[history["measure"] == f"dev_{select_by}"].sort_values("epoch", kind="stable")
    return dev.loc[dev.groupby("seed")["value"].idxmax()].set_index("seed")["epoch"]


def has_learnt(history: pd.DataFrame, select_by: str) -> bool:
    """Return whether the loss of every seed is below that of one constant energy.

    The loss is that of the kept epoch, because only its weights score test. The constant is the
    same for all quadruples. See `kept_epochs` for the arguments.
    """
    values = history.set_index(["measure", "seed", "epoch"])["value"]
    losses = values["loss"][list(kept_epochs(history, select_by).items())].droplevel("epoch")
    constants = values["constant_loss"].droplevel("epoch")
    return bool((losses < NEAR * constants[losses.index]).all())


def read_learnt(histories: Iterable[str]) -> dict[Cell, bool]:
    """Return whether each trained cell has learnt.

    `histories` are the paths of history.parquet files, each beside the record of its run.
    """
    learnt = {}
    for path in map(Path, histories):
        record = read_record(path.with_name("run.json"))
        select_by = run_system(record)["training"]["select_by"]
        learnt[Cell.from_path(path.parent)] = has_learnt(read_table(path, HISTORY), select_by)
    return learnt


def has_cell_learnt(cell: Cell, learnt: Mapping[Cell, bool], config: Config) -> bool | None:
    """Return whether a cell and the cells that it fuses have learnt; None if none is trained."""
    parts = (cell, *cell.parts(config).values())
    known = [learnt[part] for part in parts if part in learnt]
    return all(known) if known else None
