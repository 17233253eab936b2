"""Which run holds the results of a cell, and which cell trains its encoder."""

from collections.abc import Iterable

from analogyqa.plan.cell import Cell
from analogyqa.settings.run import Config
from analogyqa.tasks import task_of

# The cells that a run holds, each with its categories; None for all categories.
Parts = dict[Cell, list[str] | None]


def holding_cell(config: Config, cell: Cell) -> Cell:
    """Return the cell whose run holds the results of a cell."""
    return task_of(config.datasets[cell.dataset]).holding_cell(cell)


def cells_by_run(config: Config, cells: Iterable[Cell]) -> dict[Cell, Parts]:
    """Return the given cells by the cell of the run that holds them, where they may share one."""
    parts: dict[Cell, Parts] = {}
    for cell in cells:
        if not task_of(config.datasets[cell.dataset]).has_question_types:
            parts.setdefault(holding_cell(config, cell), {})[cell] = config.types_of(cell.subset)
    return parts


def training_cell(config: Config, cell: Cell) -> Cell | None:
    """Return another cell that trains the encoder of a cell; None if there is none."""
    return task_of(config.datasets[cell.dataset]).training_cell(cell)
