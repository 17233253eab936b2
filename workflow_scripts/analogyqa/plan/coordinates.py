"""Places: from what a table, figure or claim is about to the cell that it is of."""

from collections.abc import Iterable

from analogyqa.plan.cell import Cell
from analogyqa.plan.fused import why_left_out, why_not_fused
from analogyqa.plan.solved import why_not_solved
from analogyqa.settings import overrides as ov
from analogyqa.settings.claims import Claim
from analogyqa.settings.coordinates import SCORE, Coordinates
from analogyqa.settings.data import ALL
from analogyqa.settings.overrides import Overrides
from analogyqa.settings.paper import OWN, Paper
from analogyqa.settings.run import Config


def why_no_run(coordinates: Coordinates, config: Config) -> str:
    """Return why there can be no run of this system on these data, empty when there can be."""
    for name in filter(None, (coordinates.system, coordinates.over)):
        if reason := why_left_out(name, coordinates.dataset, config):
            return reason
    if coordinates.dataset in config.left_out:
        return config.left_out[coordinates.dataset]
    known = {
        "data set": (coordinates.dataset, {*config.datasets, None}),
        "subset": (coordinates.subset, {*config.subsets, *config.relations, ALL, None}),
        "system": (coordinates.system, {*config.systems, None}),
        "other system": (coordinates.over, {*config.systems, None}),
    }
    for kind, (name, names) in known.items():
        if name not in names:
            return f"{kind} {name} is not configured"
    if (
        coordinates.system
        and not coordinates.cost
        and config.systems[coordinates.system].only_costs
    ):
        return f"only its costs are measured: {config.systems[coordinates.system].only_costs}"
    for name, value in coordinates.overrides:
        points = config.sweeps.get(name)
        if points and value not in map(ov.text_of, points):
            return f"{name} = {value} is not among the points of sweeps.{name}"
    if reason := why_not_solved(coordinates, config) or why_not_fused(coordinates, config):
        return reason
    if coordinates.system is None:
        return ""
    try:
        overrides = config.canonical_overrides(coordinates.system, coordinates.overrides)
        config.check_system(coordinates.system, config.system_at(coordinates.system, overrides))
    except ValueError as error:
        return str(error).partition("; ")[0]
    return config.left_out.get(system_key(coordinates.system, overrides), "")


def cell_at(coordinates: Coordinates, config: Config, overrides: Overrides = ()) -> Cell:
    """Return the cell that a place names, at further overrides."""
    wanted = tuple(sorted({**dict(overrides), **dict(coordinates.overrides)}.items()))
    found = config.canonical_overrides(coordinates.system, wanted, coordinates.dataset)
    return Cell(coordinates.system, coordinates.dataset, coordinates.subset, found)


def cells_by_hyperparameters(coordinates: Coordinates, config: Config) -> dict[str, Cell]:
    """Return the cells of a place by the setting that it is reported at.

    Coordinates with overrides, and data sets of another paper than that whose selection has the
    system, are reported with the paper's hyperparameters only.
    """
    own = cell_at(coordinates, config)
    settings = config.reported_hyperparameters(coordinates.system)
    chooses = not own.overrides and config.is_tuned_on(coordinates.system, coordinates.dataset)
    return {
        name: cell_at(coordinates, config, overrides)
        for name, overrides in settings.items()
        if not overrides or chooses
    }


def system_key(system: str, overrides: Overrides) -> str:
    """Return how `left_out` calls a system at overrides."""
    return f"{system} {ov.to_text(overrides)}"


def extra_systems(config: Config, paper: Paper, name: str) -> list[str]:
    """Return the systems that a table of a paper does not have and that get a row in it.

    They are those that its configuration lists, and every system that no paper configures.
    """
    artefact = paper.artefacts[name]
    if not artefact.has_systems or paper.paper == OWN:
        return []
    listed = config.studies[paper.paper].extra_rows.get(name, [])
    has = {number.coordinates.system for number in artefact.numbers()}
    wanted = dict.fromkeys([*listed, *config.outside_papers("systems")])
    return [system for system in wanted if system in config.systems and system not in has]


def artefact_coordinates(config: Config, paper: Paper, name: str) -> list[Coordinates]:
    """Return every place that a table or figure shows: the paper's, and those of extra systems."""
    artefact = paper.artefacts[name]
    if artefact.is_figure:
        return [coordinates for *_, coordinates in artefact.points(config.sweeps)]
    places = [number.coordinates for number in artefact.numbers() if number.kind == SCORE]
    for system in extra_systems(config, paper, name):
        own = (
            coordinates for _, _, coordinates in artefact.cells_of(system) if not coordinates.cost
        )
        places += [coordinates | Coordinates(system=system) for coordinates in own]
    return places


def claim_sides(claims: Iterable[Claim], *kinds: str) -> list[Coordinates]:
    """Return the sides of all claims, or of those about numbers of some kinds."""
    own = (claim for claim in claims if not kinds or claim.kind in kinds)
    return [side for claim in own for pair in claim.sides() for side in pair]
