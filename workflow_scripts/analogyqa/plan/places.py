"""Places: from what a table, figure or claim is about to the cell that it is of."""

from collections.abc import Iterable

from analogyqa.plan.cell import Cell
from analogyqa.plan.fused import why_left_out, why_not_fused
from analogyqa.plan.solved import why_not_solved
from analogyqa.settings import axes as ax
from analogyqa.settings.axes import Axes
from analogyqa.settings.claims import Claim
from analogyqa.settings.data import ALL
from analogyqa.settings.paper import OWN, Paper
from analogyqa.settings.run import Config
from analogyqa.settings.where import SCORE, Where


def why_not(where: Where, config: Config) -> str:
    """Return why there can be no run of this system on these data, empty when there can be."""
    for name in filter(None, (where.system, where.over)):
        if reason := why_left_out(name, where.dataset, config):
            return reason
    if where.dataset in config.left_out:
        return config.left_out[where.dataset]
    known = {
        "data set": (where.dataset, {*config.datasets, None}),
        "subset": (where.subset, {*config.subsets, *config.relations, ALL, None}),
        "system": (where.system, {*config.systems, None}),
        "other system": (where.over, {*config.systems, None}),
    }
    for kind, (name, names) in known.items():
        if name not in names:
            return f"{kind} {name} is not configured"
    if where.system and not where.cost and config.systems[where.system].only_costs:
        return f"only its costs are measured: {config.systems[where.system].only_costs}"
    for name, value in where.axes:
        points = config.axes.get(name)
        if points and value not in map(ax.text_of, points):
            return f"{name} = {value} is not among the points of axes.{name}"
    if reason := why_not_solved(where, config) or why_not_fused(where, config):
        return reason
    if where.system is None:
        return ""
    try:
        axes = config.canonical(where.system, where.axes)
        config.check_system(where.system, config.system_at(where.system, axes))
    except ValueError as error:
        return str(error).partition("; ")[0]
    return config.left_out.get(label_at(where.system, axes), "")


def cell_at(where: Where, config: Config, axes: Axes = ()) -> Cell:
    """Return the cell that a place names, at further axes."""
    wanted = tuple(sorted({**dict(axes), **dict(where.axes)}.items()))
    found = config.canonical(where.system, wanted, where.dataset)
    return Cell(where.system, where.dataset, where.subset, found)


def cells_by_setting(where: Where, config: Config) -> dict[str, Cell]:
    """Return the cells of a place by the setting that it is reported at.

    What has axes of its own is reported at the paper's setting only, and so is a data set that is
    not of the paper whose selection the system takes part in.
    """
    own = cell_at(where, config)
    settings = config.settings_of(where.system)
    chooses = not own.axes and config.chooses_on(where.system, where.dataset)
    return {
        name: cell_at(where, config, axes) for name, axes in settings.items() if not axes or chooses
    }


def label_at(system: str, axes: Axes) -> str:
    """Return how `left_out` calls a system at axes."""
    return f"{system} {ax.to_text(axes)}"


def extra_systems(config: Config, paper: Paper, name: str) -> list[str]:
    """Return the systems that a table of a paper does not have and that get a row in it.

    They are those that its configuration lists, and every system that no paper configures.
    """
    artefact = paper.artefacts[name]
    if not artefact.has_systems or paper.paper == OWN:
        return []
    listed = config.studies[paper.paper].extra_rows.get(name, [])
    has = {number.where.system for number in artefact.numbers()}
    wanted = dict.fromkeys([*listed, *config.own("systems")])
    return [system for system in wanted if system in config.systems and system not in has]


def places_of(config: Config, paper: Paper, name: str) -> list[Where]:
    """Return every place that a table or figure shows: the paper's, and those of extra systems."""
    artefact = paper.artefacts[name]
    if artefact.is_figure:
        return [where for *_, where in artefact.points(config.axes)]
    places = [number.where for number in artefact.numbers() if number.kind == SCORE]
    for system in extra_systems(config, paper, name):
        own = (where for _, _, where in artefact.cells_of(system) if not where.cost)
        places += [where | Where(system=system) for where in own]
    return places


def sides_of(claims: Iterable[Claim], *kinds: str) -> list[Where]:
    """Return the sides of all claims, or of those about numbers of some kinds."""
    own = (claim for claim in claims if not kinds or claim.kind in kinds)
    return [side for claim in own for pair in claim.sides() for side in pair]
