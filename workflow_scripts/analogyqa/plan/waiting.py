"""Cells that wait for the training of another: they start from it, or it is theirs, too."""

from analogyqa.plan.cell import Cell, split_corpus
from analogyqa.settings.data import ALL
from analogyqa.settings.run import Config
from analogyqa.settings.systems import System


def waits_for(config: Config, cell: Cell) -> Cell | None:
    """Return the cell whose training a cell waits for, None where it waits for none.

    That is the cell on all questions that it starts from; its training does without that where it
    has fewer seeds, see `runs.train`. Or the cell of the first system of which it scores with other
    weights.
    """
    system = config.system_at(cell.system, cell.overrides)
    if system.training.weight_averaging:
        own = _learned(config.systems[cell.system])
        first = next(name for name, each in config.systems.items() if _learned(each) == own)
        if first != cell.system:
            return Cell(first, cell.dataset, cell.subset, cell.overrides)
    names = (name for name, each in config.systems.items() if each == system.starts_from)
    if system.starts_from is None or (name := next(names, None)) is None:
        return None
    dataset, overrides = split_corpus(cell.corpus)
    return Cell(name, dataset, ALL, config.canonical_overrides(name, overrides, dataset))


def _learned(system: System) -> dict:
    """Return what the training of a system depends on."""
    return system.model_dump(exclude={"title", "only_costs", "scores_with"})
