"""Our results: each cell summarised once, and whether its training runs have learnt anything."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import pandas as pd

from analogyqa.cells import Cell, cells_by_run, reported_cells
from analogyqa.cells.made import made_files
from analogyqa.corpora.table import Counts, count_corpora
from analogyqa.evaluation.summary import (
    SUMMARY,
    Summaries,
    Values,
    by_cell,
    index_values,
    read_record,
    read_runs,
    summarise_runs,
    to_frame,
)
from analogyqa.runs.cost import Costs, read_costs
from analogyqa.runs.record import run_system
from analogyqa.schemas import HISTORY, read_table
from analogyqa.settings.paper import Paper
from analogyqa.settings.run import Config


@dataclass(frozen=True)
class Results:
    """The results of some cells, with the counts of corpora and the costs of training.

    Attributes:
        summary: The spread of every run and measure, columns SUMMARY.
        values: Looks up the test values [seeds, items] of a cell by measure.
        counts: Each data set's counts, by what is counted, split and question type.
        costs: The costs of training, by data set, subset and system.
    """

    summary: pd.DataFrame = field(default_factory=lambda: to_frame([], SUMMARY))
    values: Values = lambda cell, measure: None
    counts: dict[str, dict[str, Counts]] = field(default_factory=dict)
    costs: Costs = field(default_factory=dict)

    @cached_property
    def by_cell(self) -> Summaries:
        """The rows of the summary by cell and measure."""
        return by_cell(self.summary)


def read_results(
    config: Config,
    cells: Iterable[Cell],
    records: Iterable[str | Path],
    metrics: Iterable[str | Path],
    corpora: Iterable[str | Path] = (),
    costs: Iterable[str | Path] = (),
) -> Results:
    """Read and summarise the results of some cells, which may share runs.

    The others are paths of files; `records` and `metrics` have the same order.
    """
    runs = list(read_runs(records, metrics, cells_by_run(config, cells)))
    summary, counts = summarise_runs(runs, config), count_corpora(corpora)
    return Results(summary, index_values(runs), counts, read_costs(list(costs)))


def is_finished(results: str | Path, config: Config, cell: Cell) -> bool:
    """Return whether the run that holds a cell is finished in an output folder."""
    folder = Path(results, "runs", cell.with_run(config).path)
    return all((folder / file).exists() for file in ("run.json", "metrics.parquet"))


def read_finished(results: str | Path, config: Config, papers: Mapping[str, Paper]) -> Results:
    """Read the results of those cells of papers whose runs are finished in an output folder."""
    folder = Path(results)
    cells = [c for c in reported_cells(config, papers) if is_finished(folder, config, c)]
    paths = dict.fromkeys(folder / "runs" / cell.with_run(config).path for cell in cells)
    corpora = (folder / "corpora" / f"{name}.parquet" for name in config.datasets)
    return read_results(
        config,
        cells,
        [path / "run.json" for path in paths],
        [path / "metrics.parquet" for path in paths],
        [path for path in corpora if path.exists()],
        made_files(folder, "costs/*/*.json"),
    )


NOT_LEARNT = "did not learn"  # the words on pages; nothing follows from such scores
# A loss above this share of that of a constant energy may differ from it by chance.
NEAR = 0.99


def kept_epochs(history: pd.DataFrame, select_by: str) -> pd.Series:
    """Return the epoch whose weights score test, by seed: the first with the best dev value.

    `history` is of schema HISTORY; `select_by` is the measure that selects the epoch.
    """
    dev = history[history["measure"] == f"dev_{select_by}"].sort_values("epoch", kind="stable")
    return dev.loc[dev.groupby("seed")["value"].idxmax()].set_index("seed")["epoch"]


def has_learnt(history: pd.DataFrame, select_by: str) -> bool:
    """Return whether the loss of every seed is below that of one constant energy.

    The loss is that of the kept epoch, because only its weights score test. The constant is the
    same for all quadruples. The arguments are those of `kept_epochs`.
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
