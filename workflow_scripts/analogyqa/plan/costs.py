"""Which systems are measured for what their training costs."""

from collections.abc import Iterable, Mapping

from analogyqa.plan.coordinates import claim_sides, extra_systems, why_no_run
from analogyqa.settings.coordinates import COST, Coordinates
from analogyqa.settings.paper import Paper
from analogyqa.settings.run import Config
from analogyqa.settings.systems import System


def artefact_costs(config: Config, paper: Paper, name: str) -> dict[tuple[str, str], list[str]]:
    """Return (data set, subset) to the systems of a table whose costs it shows.

    They are trained, and not on quadruples, of which an epoch has as many as prototypes are chosen.
    """
    artefact = paper.artefacts[name]
    places = [number.coordinates for number in artefact.numbers() if number.kind == COST]
    for system in extra_systems(config, paper, name):
        own = (coordinates for _, _, coordinates in artefact.cells_of(system) if coordinates.cost)
        places += [coordinates | Coordinates(system=system) for coordinates in own]
    return _that_cost(places, config)


def _that_cost(places: Iterable[Coordinates], config: Config) -> dict[tuple[str, str], list[str]]:
    found: dict[tuple[str, str], dict[str, None]] = {}
    for coordinates in places:
        if not why_no_run(coordinates, config):
            names = (each for each in (coordinates.system, coordinates.over) if each)
            costing = {each: None for each in names if has_costs(config.systems[each])}
            found.setdefault((coordinates.dataset, coordinates.subset), {}).update(costing)
    return {at: list(names) for at, names in found.items() if names}


def claim_costs(config: Config, paper: Paper) -> dict[tuple[str, str], list[str]]:
    """Return what `artefact_costs` does, of a paper's claims."""
    return _that_cost(claim_sides(paper.claims.values(), COST), config)


def has_costs(system: System) -> bool:
    return system.trained and not system.learns_from_quadruples


def all_costs(config: Config, papers: Mapping[str, Paper]) -> dict[tuple[str, str], list[str]]:
    """Return what `artefact_costs` does, of all tables and claims."""
    found: dict[tuple[str, str], dict[str, None]] = {}
    for paper in papers.values():
        parts = [artefact_costs(config, paper, name) for name in paper.artefacts]
        for part in [*parts, claim_costs(config, paper)]:
            for at, systems in part.items():
                found.setdefault(at, {}).update(dict.fromkeys(systems))
    return {at: list(systems) for at, systems in found.items()}
