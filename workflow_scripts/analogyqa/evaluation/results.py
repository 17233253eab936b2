"""Our results: what tables, figures and the ledger read, each cell summarised once."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import pandas as pd

from analogyqa.cells import Cell, cells_by_run, reported_cells
from analogyqa.cells.made import made_files
from analogyqa.corpora.table import Counts, count_corpora
from analogyqa.evaluation.summary import (
    Summaries,
    Values,
    by_cell,
    read_runs,
    summarise_runs,
    values_of,
)
from analogyqa.runs.cost import Costs, read_costs
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

    summary: pd.DataFrame
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

    `records`, `metrics`, `corpora` and `costs` are paths, the first two in the same order.
    """
    runs = list(read_runs(records, metrics, cells_by_run(config, cells)))
    return Results(
        summarise_runs(runs, config),
        values_of(runs),
        count_corpora(corpora),
        read_costs(list(costs)),
    )


def is_finished(results: str | Path, config: Config, cell: Cell) -> bool:
    """Return whether the run that holds a cell is finished in an output folder."""
    folder = Path(results, "runs", cell.with_run(config).path)
    return all((folder / file).exists() for file in ("run.json", "metrics.parquet"))


def read_finished(
    results: str | Path, config: Config, papers: Mapping[str, Paper]
) -> tuple[Results, list[Cell]]:
    """Read the results of the cells of papers whose runs are finished; also return the others.

    Args:
        results: The output folder.
        config: Its configuration.
        papers: The papers, by name.
    """
    folder = Path(results)
    finished: list[Cell] = []
    others: list[Cell] = []
    for cell in reported_cells(config, papers):
        (finished if is_finished(folder, config, cell) else others).append(cell)
    paths = dict.fromkeys(folder / "runs" / c.with_run(config).path for c in finished)
    corpora = (folder / "corpora" / f"{name}.parquet" for name in config.datasets)
    computed = read_results(
        config,
        finished,
        [path / "run.json" for path in paths],
        [path / "metrics.parquet" for path in paths],
        [path for path in corpora if path.exists()],
        made_files(folder, "costs/*/*.json"),
    )
    return computed, others
