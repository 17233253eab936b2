"""From the coordinates of a published number or a claim to the cell that measures it."""

from collections.abc import Iterable, Iterator, Mapping

from analogyqa.cells.cell import Cell
from analogyqa.settings import overrides as ov
from analogyqa.settings.claims import Claim
from analogyqa.settings.coordinates import KINDS, Coordinates
from analogyqa.settings.data import ALL
from analogyqa.settings.overrides import Overrides
from analogyqa.settings.paper import OWN, Paper
from analogyqa.settings.run import Config
from analogyqa.settings.studies import PAPER
from analogyqa.settings.systems import System
from analogyqa.tasks import dataset_task


def why_no_run(coordinates: Coordinates, config: Config) -> str:
    """Return why there can be no run at these coordinates; "" if there can be one."""
    return next(_obstacles(coordinates, config), "")


def _obstacles(coordinates: Coordinates, config: Config) -> Iterator[str]:
    """Yield what stands in the way of a run at some coordinates.

    Each check may rely on those before it.
    """
    system, dataset, overrides = coordinates.system, coordinates.dataset, coordinates.overrides
    for name in filter(None, (system, coordinates.over)):
        if reason := why_left_out(name, dataset, config):
            yield reason
    if dataset in config.left_out:
        yield config.left_out[dataset]
    for section, value, known in (
        ("data set", dataset, config.datasets),
        ("subset", coordinates.subset, {*config.subsets, *config.relations, ALL}),
        ("system", system, config.systems),
        ("other system", coordinates.over, config.systems),
    ):
        if value and value not in known:
            yield f"{section} {value} is not configured"
    if system and (reason := config.systems[system].only_costs) and not coordinates.cost:
        yield f"only its costs are measured: {reason}"
    for name, value in overrides:
        points = config.sweeps.get(name)
        if points and value not in map(ov.text_of, points):
            yield f"{name} = {value} is not among the points of sweeps.{name}"
    if dataset and (
        reason := dataset_task(config.datasets[dataset]).why_no_run(coordinates, config)
    ):
        yield reason
    if not system:
        return
    seeds = len(config.seeds_at(coordinates.subset, overrides))
    for name, shifts in config.systems[system].parts.items():
        if max(shifts) >= seeds:
            yield f"it fuses {max(shifts) + 1} seeds of {name}, but `seeds` gives only {seeds}"
    try:
        canonical = config.canonical_overrides(system, overrides)
        config.check_system(system, config.system_at(system, canonical))
    except ValueError as error:
        yield str(error).partition("; ")[0]
    if reason := why_overrides_left_out(system, dataset, overrides, config):
        yield reason


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


CostedSystems = dict[tuple[str, str], list[str]]  # the systems, by (data set, subset)


def all_costs(config: Config, papers: Mapping[str, Paper]) -> CostedSystems:
    """Return the systems whose costs any table or claim needs."""
    needed: list[Coordinates] = []
    for paper in papers.values():
        for name in paper.artefacts:
            needed += artefact_coordinates(config, paper, name)
        needed += claim_sides(paper.claims.values())
    return systems_with_costs(needed, config)


def has_costs(system: System) -> bool:
    """Return whether a system's training costs are measured.

    Systems that learn from quadruples have none: the length of their epochs depends on how many
    prototypes are chosen.
    """
    return system.trained and not system.learns_from_quadruples


def systems_with_costs(all_coordinates: Iterable[Coordinates], config: Config) -> CostedSystems:
    """Return the systems whose costs are asked for at some coordinates."""
    systems: dict[tuple[str, str], dict[str, None]] = {}
    for coordinates in all_coordinates:
        if coordinates.cost and not why_no_run(coordinates, config):
            for name in filter(None, (coordinates.system, coordinates.over)):
                if has_costs(config.systems[name]):
                    data = (coordinates.dataset, coordinates.subset)
                    systems.setdefault(data, {})[name] = None
    return {data: list(names) for data, names in systems.items()}
