"""Systems that start from another: the cell whose training gives them their first weights."""

from analogyqa.plan.cell import Cell, split_corpus
from analogyqa.settings.data import ALL
from analogyqa.settings.run import Config


def start_of(config: Config, cell: Cell) -> Cell | None:
    """Return the cell on all questions that a cell starts from, None where it starts from none.

    The training of a cell does without it where it has fewer seeds; see `runs.train`.
    """
    first = config.system_at(cell.system, cell.axes).starts_from
    names = (name for name, system in config.systems.items() if system == first)
    if first is None or (name := next(names, None)) is None:
        return None
    dataset, axes = split_corpus(cell.corpus)
    return Cell(name, dataset, ALL, config.canonical(name, axes, dataset))
