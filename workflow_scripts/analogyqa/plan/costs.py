"""The systems whose training costs are measured."""

from collections.abc import Iterable, Mapping

from analogyqa.plan.coordinates import claim_sides, extra_systems, why_no_run
from analogyqa.settings.coordinates import COST, Coordinates
from analogyqa.settings.paper import Paper
from analogyqa.settings.run import Config
from analogyqa.settings.systems import System


def artefact_costs(config: Config, paper: Paper, name: str) -> dict[tuple[str, str], list[str]]:
    """Return the systems whose costs a table shows, by (data set, subset)."""
    artefact = paper.artefacts[name]
    shown = [number.coordinates for number in artefact.numbers() if number.kind == COST]
    for system in extra_systems(config, paper, name):
        for _, _, coordinates in artefact.cells_of(system):
            if coordinates.cost:
                shown.append(coordinates | Coordinates(system=system))
    return _systems_with_costs(shown, config)


def claim_costs(config: Config, paper: Paper) -> dict[tuple[str, str], list[str]]:
    """Return the systems whose costs a paper's claims compare, by (data set, subset)."""
    return _systems_with_costs(claim_sides(paper.claims.values(), COST), config)


def all_costs(config: Config, papers: Mapping[str, Paper]) -> dict[tuple[str, str], list[str]]:
    """Return the systems whose costs any table or claim needs, by (data set, subset)."""
    merged: dict[tuple[str, str], dict[str, None]] = {}
    for paper in papers.values():
        parts = [artefact_costs(config, paper, name) for name in paper.artefacts]
        for part in [*parts, claim_costs(config, paper)]:
            for data, systems in part.items():
                merged.setdefault(data, {}).update(dict.fromkeys(systems))
    return {data: list(systems) for data, systems in merged.items()}


def has_costs(system: System) -> bool:
    """Return whether a system's training costs are measured.

    Systems that learn from quadruples have none: the length of their epochs depends on how many
    prototypes are chosen.
    """
    return system.trained and not system.learns_from_quadruples


def _systems_with_costs(
    shown: Iterable[Coordinates], config: Config
) -> dict[tuple[str, str], list[str]]:
    systems: dict[tuple[str, str], dict[str, None]] = {}
    for coordinates in shown:
        if not why_no_run(coordinates, config):
            system, dataset, subset = coordinates.system, coordinates.dataset, coordinates.subset
            names = filter(None, (system, coordinates.over))
            costing = {name: None for name in names if has_costs(config.systems[name])}
            systems.setdefault((dataset, subset), {}).update(costing)
    return {data: list(names) for data, names in systems.items() if names}
