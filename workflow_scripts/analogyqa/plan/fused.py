"""Fused systems, and the cells whose scores they fuse."""

from analogyqa.plan.cell import Cell
from analogyqa.settings.coordinates import Coordinates
from analogyqa.settings.run import Config


def fused_parts(config: Config, cell: Cell) -> dict[str, Cell]:
    """Return the cell of each part of a fused system, by system; {} for any other system."""
    return {
        name: cell._replace(
            system=name, overrides=config.canonical_overrides(name, cell.overrides, cell.dataset)
        )
        for name in config.systems[cell.system].parts
    }


def why_left_out(system: str, dataset: str, config: Config) -> str:
    """Return why a system, or a part of a fused one, is left out on a data set; "" if it is not."""
    parts = config.systems[system].parts if system in config.systems else {}
    keys = (key for name in (system, *parts) for key in (name, f"{name} {dataset}"))
    return next((config.left_out[key] for key in keys if key in config.left_out), "")


def why_not_fused(coordinates: Coordinates, config: Config) -> str:
    """Return why there are too few runs to fuse at some coordinates; "" if there are enough."""
    parts = config.systems[coordinates.system].parts if coordinates.system else {}
    for name, shifts in parts.items():
        seeds = len(config.seeds_at(coordinates.subset, coordinates.overrides))
        if max(shifts) >= seeds:
            return f"it fuses {max(shifts) + 1} seeds of {name}, and there are {seeds} (seeds)"
    return ""
