"""The run that holds the results of a cell, and the other cells that it needs."""

from collections.abc import Iterable
from typing import NamedTuple

from analogyqa.cells.cell import Cell, split_corpus
from analogyqa.settings.data import ALL
from analogyqa.settings.run import Config
from analogyqa.settings.systems import System
from analogyqa.tasks import task_of


class Part(NamedTuple):
    """The part of a run's results that belongs to a cell.

    Attributes:
        categories: The categories; None for all.
        analogies: The number of analogies that weights each category; empty for those found.
    """

    categories: list[str] | None
    analogies: dict[str, int]


Parts = dict[Cell, Part]


def cell_with_run(config: Config, cell: Cell) -> Cell:
    """Return the cell whose run holds the results of a cell."""
    return task_of(config.datasets[cell.dataset]).cell_with_run(cell)


def cells_by_run(config: Config, cells: Iterable[Cell]) -> dict[Cell, Parts]:
    """Return the given cells by the cell of the run that holds them, where they may share one."""
    parts: dict[Cell, Parts] = {}
    for cell in cells:
        if not task_of(config.datasets[cell.dataset]).has_question_types:
            part = Part(config.types_of(cell.subset), _weights(config, cell))
            parts.setdefault(cell_with_run(config, cell), {})[cell] = part
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


def fused_parts(config: Config, cell: Cell) -> dict[str, Cell]:
    """Return the cell of each part of a fused system, by system; {} for any other system."""
    return {
        name: cell._replace(
            system=name, overrides=config.canonical_overrides(name, cell.overrides, cell.dataset)
        )
        for name in config.systems[cell.system].parts
    }


def prerequisite_cell(config: Config, cell: Cell) -> Cell | None:
    """Return the cell whose training run a cell needs, None if it needs no other.

    A system that starts from another one needs that system's cell on all questions; where that cell
    has fewer seeds, `runs.train` trains the missing ones itself.
    """
    if (first := cell_with_weights(config, cell)) != cell:
        return first
    system = config.system_at(cell.system, cell.overrides)
    names = (name for name, other in config.systems.items() if other == system.starts_from)
    if system.starts_from is None or (name := next(names, None)) is None:
        return None
    dataset, overrides = split_corpus(cell.corpus)
    return Cell(name, dataset, ALL, config.canonical_overrides(name, overrides, dataset))


def cell_with_weights(config: Config, cell: Cell) -> Cell:
    """Return the cell whose training run a cell scores with.

    A system that differs from an earlier one only in the weights it scores with shares the training
    run of that system.
    """
    if not config.system_at(cell.system, cell.overrides).training.weight_averaging:
        return cell
    settings, systems = _training_settings(config.systems[cell.system]), config.systems.items()
    first = next(name for name, other in systems if _training_settings(other) == settings)
    return cell._replace(system=first)


def _training_settings(system: System) -> dict:
    """Return the settings that the training run of a system depends on."""
    return system.model_dump(exclude={"title", "only_costs", "scores_with"})
