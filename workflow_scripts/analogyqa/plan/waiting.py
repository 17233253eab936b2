"""Cells that need the training run of another cell first."""

from analogyqa.plan.cell import Cell, split_corpus
from analogyqa.settings.data import ALL
from analogyqa.settings.run import Config
from analogyqa.settings.systems import System


def waits_for(config: Config, cell: Cell) -> Cell | None:
    """Return the cell whose training run a cell needs, None if it needs no other.

    A system that differs from an earlier one only in the weights it scores with shares the training
    run of that system. A system that starts from another one needs that system's cell on all
    questions; where that cell has fewer seeds, `runs.train` trains the missing ones itself.
    """
    system = config.system_at(cell.system, cell.overrides)
    if system.training.weight_averaging:
        learned = _learned(config.systems[cell.system])
        first = next(name for name, other in config.systems.items() if _learned(other) == learned)
        if first != cell.system:
            return Cell(first, cell.dataset, cell.subset, cell.overrides)
    names = (name for name, other in config.systems.items() if other == system.starts_from)
    if system.starts_from is None or (name := next(names, None)) is None:
        return None
    dataset, overrides = split_corpus(cell.corpus)
    return Cell(name, dataset, ALL, config.canonical_overrides(name, overrides, dataset))


def _learned(system: System) -> dict:
    """Return everything that the training run of a system depends on."""
    return system.model_dump(exclude={"title", "only_costs", "scores_with"})
