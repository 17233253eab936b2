"""Which run holds the results of a cell, and which cell trains its encoder."""

from collections.abc import Iterable
from typing import NamedTuple

from analogyqa.plan.cell import Cell
from analogyqa.settings.run import Config
from analogyqa.tasks import task_of


class Part(NamedTuple):
    """The part of a run that a cell has.

    Attributes:
        categories: The categories; None for all.
        analogies: The number of analogies that weights each category; empty for those found.
    """

    categories: list[str] | None
    analogies: dict[str, int]


Parts = dict[Cell, Part]


def holding_cell(config: Config, cell: Cell) -> Cell:
    """Return the cell whose run holds the results of a cell."""
    return task_of(config.datasets[cell.dataset]).holding_cell(cell)


def cells_by_run(config: Config, cells: Iterable[Cell]) -> dict[Cell, Parts]:
    """Return the given cells by the cell of the run that holds them, where they may share one."""
    parts: dict[Cell, Parts] = {}
    for cell in cells:
        if not task_of(config.datasets[cell.dataset]).has_question_types:
            part = Part(config.types_of(cell.subset), _weights(config, cell))
            parts.setdefault(holding_cell(config, cell), {})[cell] = part
    return parts


def _weights(config: Config, cell: Cell) -> dict[str, int]:
    dataset = config.datasets[cell.dataset]
    if dataset.evaluation_at(cell.overrides).weighted_by == "found":
        return {}
    counts = {name: config.categories[name].pairs for name in dataset.categories}
    return {name: pairs * (pairs - 1) // 2 for name, pairs in counts.items()}


def training_cell(config: Config, cell: Cell) -> Cell | None:
    """Return another cell that trains the encoder of a cell; None if there is none."""
    return task_of(config.datasets[cell.dataset]).training_cell(cell)
