"""Cells that solve analogies: one run over all categories holds the cells of its subsets."""

from collections.abc import Iterable

from analogyqa.encoders.specs import ENCODERS
from analogyqa.plan.cell import Cell
from analogyqa.rankers.specs import RANKERS
from analogyqa.settings.analogies import SOLVING_OVERRIDES, TRAINED_ON
from analogyqa.settings.coordinates import Coordinates
from analogyqa.settings.data import ALL
from analogyqa.settings.run import Config

# The cells that a run holds, each with its categories; None for all categories.
Parts = dict[Cell, list[str] | None]


def holding_cell(config: Config, cell: Cell) -> Cell:
    """Return the cell whose run holds the results of a cell: all categories, or the cell itself."""
    return cell._replace(subset=ALL) if config.datasets[cell.dataset].solved else cell


def cells_by_run(config: Config, cells: Iterable[Cell]) -> dict[Cell, Parts]:
    """Return the given cells that solve analogies, grouped by the cell of the run holding them."""
    parts: dict[Cell, Parts] = {}
    for cell in cells:
        if config.datasets[cell.dataset].solved:
            parts.setdefault(holding_cell(config, cell), {})[cell] = config.types_of(cell.subset)
    return parts


def training_cell(config: Config, cell: Cell) -> Cell | None:
    """Return the cell that trained the encoder of a solving cell, None if it is not trained."""
    trained_on = dict(cell.overrides).get(TRAINED_ON)
    if trained_on is None or not config.datasets[cell.dataset].solved:
        return None
    overrides = tuple(
        override for override in cell.overrides if override[0] not in SOLVING_OVERRIDES
    )
    return Cell(cell.system, *trained_on.split("+"), overrides)


def why_not_solved(coordinates: Coordinates, config: Config) -> str:
    """Return why the analogies at some coordinates cannot be solved; "" if they can be.

    Coordinates of a data set with ranked candidates give "" too.
    """
    if coordinates.dataset is None or not config.datasets[coordinates.dataset].solved:
        return ""
    dataset = config.datasets[coordinates.dataset]
    for name in config.types_of(coordinates.subset) or dataset.relations:
        if name not in dataset.relations:
            return f"{coordinates.dataset} has no category {name}"
        if reason := config.left_out.get(category_key(name)):
            return reason
    if coordinates.system is None:
        return ""
    system = config.systems[coordinates.system]
    entry = ENCODERS[system.encoder] if system.encoder else None
    if not RANKERS[system.ranker].needs_encoder or (entry and entry.gives_words):
        return f"{coordinates.system} gives no sentence vectors"
    return _why_not_trained(coordinates, config) if system.trained else ""


def _why_not_trained(coordinates: Coordinates, config: Config) -> str:
    trained_on = dict(coordinates.overrides).get(TRAINED_ON)
    if trained_on is None:
        return f"{coordinates.system} is trained, and there is nothing to train it on here"
    dataset, subset = trained_on.split("+")
    if dataset in config.left_out:
        return config.left_out[dataset]
    if dataset not in config.datasets or config.datasets[dataset].solved:
        return f"{TRAINED_ON}: no data set {dataset} to train on"
    if subset != ALL and subset not in config.subsets:
        return f"{TRAINED_ON}: no subset {subset}"
    return ""


def category_key(name: str) -> str:
    """Return the key of a category in `left_out`."""
    return f"category {name}"
