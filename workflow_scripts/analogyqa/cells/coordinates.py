"""From the coordinates of a published number or a claim to the cell that measures it."""

from collections.abc import Iterable

from analogyqa.cells.cell import Cell
from analogyqa.settings import overrides as ov
from analogyqa.settings.claims import Claim
from analogyqa.settings.coordinates import KINDS, Coordinates
from analogyqa.settings.data import ALL
from analogyqa.settings.overrides import Overrides
from analogyqa.settings.paper import OWN, Paper
from analogyqa.settings.run import Config
from analogyqa.settings.studies import PAPER
from analogyqa.tasks import task_of


def why_no_run(coordinates: Coordinates, config: Config) -> str:
    """Return why there can be no run at these coordinates; "" if there can be one."""
    checks = (
        _why_system_left_out,
        _why_dataset_left_out,
        _why_unknown,
        _why_only_costs,
        _why_not_swept,
        _why_not_in_task,
        _why_not_fused,
        _why_overrides_do_not_fit,
        _why_overrides_left_out,
    )
    reasons = (check(coordinates, config) for check in checks)
    return next(filter(None, reasons), "")


def _why_system_left_out(coordinates: Coordinates, config: Config) -> str:
    names = filter(None, (coordinates.system, coordinates.over))
    reasons = (why_left_out(name, coordinates.dataset, config) for name in names)
    return next(filter(None, reasons), "")


def _why_dataset_left_out(coordinates: Coordinates, config: Config) -> str:
    return config.left_out.get(coordinates.dataset, "")


def _why_unknown(coordinates: Coordinates, config: Config) -> str:
    known = {
        "data set": (coordinates.dataset, {*config.datasets, ""}),
        "subset": (coordinates.subset, {*config.subsets, *config.relations, ALL, ""}),
        "system": (coordinates.system, {*config.systems, ""}),
        "other system": (coordinates.over, {*config.systems, ""}),
    }
    for section, (value, names) in known.items():
        if value not in names:
            return f"{section} {value} is not configured"
    return ""


def _why_only_costs(coordinates: Coordinates, config: Config) -> str:
    reason = config.systems[coordinates.system].only_costs if coordinates.system else ""
    return f"only its costs are measured: {reason}" if reason and not coordinates.cost else ""


def _why_not_swept(coordinates: Coordinates, config: Config) -> str:
    for name, value in coordinates.overrides:
        points = config.sweeps.get(name)
        if points and value not in map(ov.text_of, points):
            return f"{name} = {value} is not among the points of sweeps.{name}"
    return ""


def _why_not_in_task(coordinates: Coordinates, config: Config) -> str:
    if not coordinates.dataset:
        return ""
    return task_of(config.datasets[coordinates.dataset]).why_no_run(coordinates, config)


def _why_not_fused(coordinates: Coordinates, config: Config) -> str:
    """Return why there are too few runs to fuse at some coordinates; "" if there are enough."""
    parts = config.systems[coordinates.system].parts if coordinates.system else {}
    for name, shifts in parts.items():
        seeds = len(config.seeds_at(coordinates.subset, coordinates.overrides))
        if max(shifts) >= seeds:
            return f"it fuses {max(shifts) + 1} seeds of {name}, but `seeds` gives only {seeds}"
    return ""


def _why_overrides_do_not_fit(coordinates: Coordinates, config: Config) -> str:
    system = coordinates.system
    if not system:
        return ""
    try:
        overrides = config.canonical_overrides(system, coordinates.overrides)
        config.check_system(system, config.system_at(system, overrides))
    except ValueError as error:
        return str(error).partition("; ")[0]
    return ""


def _why_overrides_left_out(coordinates: Coordinates, config: Config) -> str:
    system, dataset, overrides = coordinates.system, coordinates.dataset, coordinates.overrides
    return why_overrides_left_out(system, dataset, overrides, config) if system else ""


def why_overrides_left_out(system: str, dataset: str, overrides: Overrides, config: Config) -> str:
    """Return why a system or a part of it is left out with overrides; "" if it is not."""
    keys = []
    for name in (system, *config.systems[system].parts):
        canonical = config.canonical_overrides(name, overrides)
        keys += [system_key(at, canonical) for at in (name, f"{name} {dataset}")]
    return next((config.left_out[key] for key in keys if key in config.left_out), "")


def why_left_out(system: str, dataset: str, config: Config) -> str:
    """Return why a system, or a part of a fused one, is left out on a data set; "" if it is not."""
    parts = config.systems[system].parts if system in config.systems else {}
    keys = (key for name in (system, *parts) for key in (name, f"{name} {dataset}"))
    return next((config.left_out[key] for key in keys if key in config.left_out), "")


def cell_at(coordinates: Coordinates, config: Config) -> Cell:
    """Return the cell at some coordinates."""
    system, dataset = coordinates.system, coordinates.dataset
    overrides = config.canonical_overrides(system, coordinates.overrides, dataset)
    return Cell(system, dataset, coordinates.subset, overrides)


def cells_by_hyperparameters(coordinates: Coordinates, config: Config) -> dict[str, Cell]:
    """Return the cells at some coordinates, by the hyperparameters they are reported with.

    These are `paper`, and `tuned` for a system that is tuned on the data set, unless there are
    overrides. The key is "" for a system that is not trained.
    """
    cell = cell_at(coordinates, config)
    is_trained = config.systems[cell.system].trained
    cells = {PAPER if is_trained else "": cell}
    if is_trained and not cell.overrides and config.is_tuned_on(cell.system, cell.dataset):
        cells[ov.TUNED] = cell._replace(overrides=((ov.HYPERPARAMETERS, ov.TUNED),))
    return cells


def system_key(system: str, overrides: Overrides) -> str:
    """Return the key of a system with overrides in `left_out`."""
    return f"{system} {ov.to_text(overrides)}"


def extra_systems(config: Config, paper: Paper, name: str) -> list[str]:
    """Return the systems that get a row of their own in a table although the paper has none.

    These are the systems that the paper's configuration lists, and all that no paper configures.
    """
    artefact = paper.artefacts[name]
    if not artefact.has_systems or paper.paper == OWN:
        return []
    listed = config.studies_of(paper.paper).extra_rows.get(name, [])
    printed = {number.coordinates.system for number in artefact.numbers()}
    candidates = dict.fromkeys([*listed, *config.outside_papers("systems")])
    return [name for name in candidates if name in config.systems and name not in printed]


def artefact_coordinates(config: Config, paper: Paper, name: str) -> list[Coordinates]:
    """Return the coordinates of our values in an artefact, with its extra rows."""
    artefact = paper.artefacts[name]
    if artefact.is_figure:
        return [coordinates for *_, coordinates in artefact.points(config.sweeps)]
    printed = [number.coordinates for number in artefact.numbers() if number.kind in KINDS]
    return printed + [
        coordinates | Coordinates(system=system)
        for system in extra_systems(config, paper, name)
        for *_, coordinates in artefact.cells_of(system)
    ]


def claim_sides(claims: Iterable[Claim], *kinds: str) -> list[Coordinates]:
    """Return both sides of every comparison of claims, optionally only of some kinds of numbers."""
    selected = (claim for claim in claims if not kinds or claim.kind in kinds)
    return [side for claim in selected for pair in claim.sides() for side in pair]
