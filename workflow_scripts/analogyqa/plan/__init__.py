"""The cells: what is run, as the artefacts and claims of the papers ask for it."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from analogyqa.errors import AnalogyQAError
from analogyqa.plan.cell import Cell, corpus_name, split_corpus, unfolded
from analogyqa.plan.solved import parts_of, run_of, why_not_solved
from analogyqa.registry import ENCODERS
from analogyqa.settings import axes as ax
from analogyqa.settings.axes import Axes
from analogyqa.settings.claims import Claim
from analogyqa.settings.data import ALL, fold_name
from analogyqa.settings.load import PAPERS
from analogyqa.settings.own_data import paper_of_own_data
from analogyqa.settings.paper import OWN, Paper, load_paper
from analogyqa.settings.run import Config
from analogyqa.settings.systems import System, Training
from analogyqa.settings.views import View
from analogyqa.settings.where import COST, NORM, SCORE, Where

# What the other rooms take from here.
__all__ = ["Cell", "corpus_name", "parts_of", "run_of", "split_corpus", "unfolded"]


def load_papers(config: Config, folder: Path = PAPERS) -> dict[str, Paper]:
    """Return the papers of a run, and last the tables of its own data sets where it has such.

    Raises AnalogyQAError for a broken paper.yaml, or one of another name.
    """
    papers = {}
    for name in config.papers:
        path = folder / name / "paper.yaml"
        papers[name] = load_paper(path)
        if papers[name].paper != name:
            raise AnalogyQAError(f"{path}: paper: {papers[name].paper!r}, in the folder {name}")
    titles = {name: config.datasets[name].title for name in config.own("datasets")}
    systems = {name: system.title for name, system in config.systems.items()}
    subsets = config.own("subsets") or list(config.subsets)
    solved = {name: each.relations for name, each in config.datasets.items() if each.solved}
    own = paper_of_own_data(titles, subsets, systems, Training().select_by, solved)
    return papers | ({OWN: own} if own else {})


def why_not(where: Where, config: Config) -> str:
    """Return why there can be no run of this system on these data, empty when there can be."""
    for name in filter(None, (where.system, where.over, where.dataset)):
        if name in config.left_out:
            return config.left_out[name]
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
    if reason := why_not_solved(where, config):
        return reason
    if where.system is None:
        return ""
    try:
        axes = config.canonical(where.system, where.axes)
        config.check_system(where.system, config.system_at(where.system, axes))
    except ValueError as error:
        return str(error).partition("; ")[0]
    return config.left_out.get(_at(where.system, axes), "")


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


def systems_that_cost(config: Config, paper: Paper, name: str) -> dict[tuple[str, str], list[str]]:
    """Return (data set, subset) to the systems of a table whose costs it shows.

    They are trained, and not on quadruples, of which an epoch has as many as prototypes are chosen.
    """
    artefact = paper.artefacts[name]
    places = [number.where for number in artefact.numbers() if number.kind == COST]
    for system in extra_systems(config, paper, name):
        own = (where for _, _, where in artefact.cells_of(system) if where.cost)
        places += [where | Where(system=system) for where in own]
    return _that_cost(places, config)


def _that_cost(places: Iterable[Where], config: Config) -> dict[tuple[str, str], list[str]]:
    found: dict[tuple[str, str], dict[str, None]] = {}
    for where in places:
        if not why_not(where, config):
            names = (each for each in (where.system, where.over) if each)
            costing = {each: None for each in names if has_costs(config.systems[each])}
            found.setdefault((where.dataset, where.subset), {}).update(costing)
    return {at: list(names) for at, names in found.items() if names}


def costs_of_claims(config: Config, paper: Paper) -> dict[tuple[str, str], list[str]]:
    """Return what `systems_that_cost` does, of a paper's claims."""
    return _that_cost(_sides(paper.claims.values(), COST), config)


def has_costs(system: System) -> bool:
    return system.trained and not system.learns_from_quadruples


def costed(config: Config, papers: Mapping[str, Paper]) -> dict[tuple[str, str], list[str]]:
    """Return what `systems_that_cost` does, of all tables and claims."""
    found: dict[tuple[str, str], dict[str, None]] = {}
    for paper in papers.values():
        parts = [systems_that_cost(config, paper, name) for name in paper.artefacts]
        for part in [*parts, costs_of_claims(config, paper)]:
            for at, systems in part.items():
                found.setdefault(at, {}).update(dict.fromkeys(systems))
    return {at: list(systems) for at, systems in found.items()}


def cells_of_view(config: Config, view: View) -> dict[str, Cell | str]:
    """Return the cell of each panel of a view, or why there is none."""
    found: dict[str, Cell | str] = {}
    for panel, where in view.places().items():
        reason = why_not(where, config)
        if not reason and not _has_trained_encoder(config.systems[where.system]):
            reason = "its encoder is not trained, so there is nothing to look into"
        found[panel] = reason or cell_at(where, config)
    return found


def _has_trained_encoder(system: System) -> bool:
    return bool(system.encoder) and ENCODERS[system.encoder].trained


def cells_of_artefact(config: Config, paper: Paper, name: str) -> list[Cell]:
    """Return the cells that a table or figure shows; one that counts questions has none."""
    if name in paper.views:
        panels = cells_of_view(config, paper.views[name]).values()
        return list(dict.fromkeys(panel for panel in panels if isinstance(panel, Cell)))
    return _cells(places_of(config, paper, name), config, paper.artefacts[name].is_figure)


def _sides(claims: Iterable[Claim], *kinds: str) -> list[Where]:
    """Return the sides of all claims, or of those about numbers of some kinds."""
    own = (claim for claim in claims if not kinds or claim.kind in kinds)
    return [side for claim in own for pair in claim.sides() for side in pair]


def _cells(places: Iterable[Where], config: Config, stated_only: bool = False) -> list[Cell]:
    """Return the cells of places; `stated_only` leaves out chosen settings."""
    cells: dict[Cell, None] = {}
    for where in places:
        if not why_not(where, config):
            own = list(cells_by_setting(where, config).values())
            cells |= dict.fromkeys(own[:1] if stated_only else own)
    return list(cells)


def cells_of(config: Config, papers: Mapping[str, Paper]) -> list[Cell]:
    """Return every cell of the papers.

    Raises AnalogyQAError where one needs more prototypes than there are questions.
    """
    own = [cells_of_paper(config, paper) for paper in papers.values()]
    cells = list(dict.fromkeys(cell for cells in own for cell in cells))
    for cell in cells:
        _require_questions(config, cell)
    return cells


def cells_of_paper(config: Config, paper: Paper) -> list[Cell]:
    """Return every cell that artefacts, claims and cross-fitting of a paper ask for.

    Those that a chosen setting is chosen from are among them.
    """
    cells: dict[Cell, None] = {}
    for name in paper.shown:
        cells |= dict.fromkeys(cells_of_artefact(config, paper, name))
    cells |= dict.fromkeys(cells_of_claims(config, paper))
    study = config.studies.get(paper.paper)
    if study and study.crossfit:
        crossfitted = crossfit_cells(config, paper.paper).values()
        cells |= dict.fromkeys(cell for own in crossfitted for cell in own)
    for cell in list(cells):
        if cell.axes == ((ax.SETTING, ax.CHOSEN),):
            cells |= dict.fromkeys(selection_cells(config, cell.system, cell.dataset).values())
    return list(cells)


def _require_questions(config: Config, cell: Cell) -> None:
    system = config.system_at(cell.system, cell.axes)
    counts = config.dataset_at(cell.dataset, cell.axes).questions.get("train", {})
    for question_type in config.types_of(cell.subset) or ():
        count = counts.get(question_type)
        if count is not None and system.p > count and system.needs_prototypes:
            raise AnalogyQAError(
                f"p = {system.p} ({cell.label}): more than the {count} training questions of type "
                f"{question_type} in {cell.dataset}, each of which gives at most one prototype; "
                f"allowed: 1 to {count} (prototypes.p, or axes.p for the points of a figure)"
            )


def selection_cells(config: Config, system: str, dataset: str) -> dict[str, Cell]:
    """Return the cell of each setting that a system may choose from on a data set."""
    subset = config.selection_of(system).subset
    choices = config.choices_of(system, ((ax.SETTING, ax.CHOSEN),))
    return {name: Cell(system, dataset, subset, axes) for name, axes in choices.items()}


def sensitivity_cells(config: Config, paper: str) -> dict[tuple[str, str, str, str], Cell]:
    """Return the cell of (system, data set, choice, value); the choice `paper` is no variation.

    A variation that `left_out` names has none. Where one changes nothing in what a system does
    or in a data set, the paper's own cell is taken.
    """
    study = config.studies[paper].sensitivity
    cells = {}
    for system in study.systems if study else ():
        for dataset in study.datasets:
            for (choice, value), changes in study.variations().items():
                where = Where(system=system, dataset=dataset, subset=study.subset, **changes)
                if not why_not(where, config):
                    cells[system, dataset, choice, value] = cell_at(where, config)
    return cells


def crossfit_cells(config: Config, paper: str) -> dict[tuple[str, str], list[Cell]]:
    """Return the cells of (system, data set) of a paper's cross-fitting, one for each fold."""
    study = config.studies[paper].crossfit
    return {
        (system, dataset): [
            cell_at(Where(system=system, dataset=dataset, subset=study.subset, fold=fold), config)
            for fold in (fold_name(number, study.folds) for number in range(1, study.folds + 1))
        ]
        for dataset in (study.datasets if study else ())
        for system in study.systems
    }


def folds_of(where: Where, config: Config, paper: str) -> list[Cell]:
    """Return the cells in which a place of a paper is cross-fitted, one each fold; [] for none."""
    study = config.studies[paper].crossfit if paper in config.studies else None
    if study is None or where.axes or where.subset != study.subset:
        return []
    return crossfit_cells(config, paper).get((where.system, where.dataset), [])


def cells_of_claims(config: Config, paper: Paper) -> list[Cell]:
    """Return the cells that a paper's claims compare, the primary ones cross-fitted, too."""
    claims = paper.claims.values()
    cells = dict.fromkeys(_cells(_sides(claims, SCORE), config))
    cells |= dict.fromkeys(cells_inside_claims(config, paper))
    for where in _sides(claim for claim in claims if claim.primary):
        cells |= dict.fromkeys(folds_of(where, config, paper.paper))
    return list(cells)


def cells_inside_claims(config: Config, paper: Paper) -> list[Cell]:
    """Return the cells whose norms a paper's claims compare."""
    return _cells(_sides(paper.claims.values(), NORM), config, stated_only=True)


def varied_systems(config: Config, papers: Iterable[Paper] = ()) -> dict[str, System]:
    """Return the systems at every axis that something asks for: `system axes` to its section."""
    places = [
        Where(system=name, **changes)
        for study in config.studies.values()
        if study.sensitivity
        for changes in study.sensitivity.variations().values()
        for name in study.sensitivity.systems
    ]
    for paper in papers:
        places += [where for name in paper.artefacts for where in places_of(config, paper, name)]
        places += [where for view in paper.views.values() for where in view.places().values()]
        places += _sides(paper.claims.values())
    varied = {}
    for where in places:
        axes = () if why_not(where, config) else config.canonical(where.system, where.axes)
        if axes:
            varied[_at(where.system, axes)] = config.system_at(where.system, axes)
    return varied


def _at(system: str, axes: Axes) -> str:
    """Return how `left_out` calls a system at axes."""
    return f"{system} {ax.to_text(axes)}"


def question_types_of(
    config: Config, papers: Mapping[str, Paper], cells: Iterable[Cell], dataset: str
) -> dict[str, list[str]]:
    """Return the question types of a data set: of those configured the ones asked for.

    What cells, tables that count and expected counts ask for: so a type that another data set has
    leaves this one's corpus as it is.
    """
    places = [
        number.where
        for paper in papers.values()
        for artefact in paper.artefacts.values()
        for number in artefact.numbers()
        if number.where.count
    ]
    subsets = {each.subset for each in (*cells, *places) if each.dataset == dataset}
    asked = {kind for subset in subsets & {*config.subsets} for kind in config.subsets[subset]}
    asked |= {kind for counts in config.datasets[dataset].questions.values() for kind in counts}
    return {kind: words for kind, words in config.question_types.items() if kind in asked}
