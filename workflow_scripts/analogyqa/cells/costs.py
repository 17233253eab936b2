"""The systems whose training costs are measured."""

from collections.abc import Iterable, Mapping

from analogyqa.cells.coordinates import artefact_coordinates, claim_sides, why_no_run
from analogyqa.settings.coordinates import Coordinates
from analogyqa.settings.paper import Paper
from analogyqa.settings.run import Config
from analogyqa.settings.systems import System

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
