"""The cells: what is run, as the artefacts and claims of the papers ask for it."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from analogyqa.errors import AnalogyQAError
from analogyqa.plan.cell import Cell, corpus_name, split_corpus, without_fold
from analogyqa.plan.coordinates import (
    artefact_coordinates,
    cell_at,
    cells_by_hyperparameters,
    claim_sides,
    extra_systems,
    system_key,
    why_no_run,
)
from analogyqa.plan.costs import all_costs, artefact_costs, claim_costs, has_costs
from analogyqa.plan.fused import fused_parts, why_left_out
from analogyqa.plan.solved import cells_by_run, holding_cell, training_cell
from analogyqa.plan.waiting import waits_for
from analogyqa.registry import ENCODERS
from analogyqa.settings import overrides as ov
from analogyqa.settings.coordinates import NORM, SCORE, Coordinates
from analogyqa.settings.data import fold_name
from analogyqa.settings.load import PAPERS
from analogyqa.settings.own_data import paper_of_own_data
from analogyqa.settings.paper import OWN, Paper, load_paper
from analogyqa.settings.run import Config
from analogyqa.settings.systems import System, Training
from analogyqa.settings.views import View

# What the other rooms take from here.
__all__ = [
    "Cell",
    "all_costs",
    "artefact_costs",
    "cells_by_hyperparameters",
    "cells_by_run",
    "claim_costs",
    "corpus_name",
    "extra_systems",
    "fused_parts",
    "has_costs",
    "holding_cell",
    "split_corpus",
    "training_cell",
    "waits_for",
    "why_left_out",
    "why_no_run",
    "without_fold",
]


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
    titles = {name: config.datasets[name].title for name in config.outside_papers("datasets")}
    systems = {name: system.title for name, system in config.systems.items()}
    subsets = config.outside_papers("subsets") or list(config.subsets)
    solved = {name: each.relations for name, each in config.datasets.items() if each.solved}
    own = paper_of_own_data(titles, subsets, systems, Training().select_by, solved)
    return papers | ({OWN: own} if own else {})


def view_cells(config: Config, view: View) -> dict[str, Cell | str]:
    """Return the cell of each panel of a view, or why there is none."""
    found: dict[str, Cell | str] = {}
    for panel, coordinates in view.coordinates().items():
        reason = why_no_run(coordinates, config)
        if not reason and not _has_trained_encoder(config.systems[coordinates.system]):
            reason = "its encoder is not trained, so there is nothing to look into"
        found[panel] = reason or cell_at(coordinates, config)
    return found


def _has_trained_encoder(system: System) -> bool:
    return bool(system.encoder) and ENCODERS[system.encoder].trained


def artefact_cells(config: Config, paper: Paper, name: str) -> list[Cell]:
    """Return the cells that a table or figure shows; one that counts questions has none."""
    if name in paper.views:
        panels = view_cells(config, paper.views[name]).values()
        return list(dict.fromkeys(panel for panel in panels if isinstance(panel, Cell)))
    return _cells(
        artefact_coordinates(config, paper, name), config, paper.artefacts[name].is_figure
    )


def _cells(places: Iterable[Coordinates], config: Config, stated_only: bool = False) -> list[Cell]:
    """Return the cells of places; `stated_only` leaves out chosen settings."""
    cells: dict[Cell, None] = {}
    for coordinates in places:
        if not why_no_run(coordinates, config):
            own = list(cells_by_hyperparameters(coordinates, config).values())
            cells |= dict.fromkeys(own[:1] if stated_only else own)
    return list(cells)


def all_cells(config: Config, papers: Mapping[str, Paper]) -> list[Cell]:
    """Return every cell of the papers.

    Raises AnalogyQAError where one needs more prototypes than there are questions.
    """
    own = [paper_cells(config, paper) for paper in papers.values()]
    cells = list(dict.fromkeys(cell for cells in own for cell in cells))
    for cell in cells:
        _require_questions(config, cell)
    return cells


def paper_cells(config: Config, paper: Paper) -> list[Cell]:
    """Return every cell that artefacts, claims and cross-validation of a paper ask for.

    Those that a chosen setting is chosen from are among them, those that train an encoder, and
    those that others start from.
    """
    cells: dict[Cell, None] = {}
    for name in paper.shown:
        cells |= dict.fromkeys(artefact_cells(config, paper, name))
    cells |= dict.fromkeys(claim_cells(config, paper))
    study = config.studies.get(paper.paper)
    if study and study.cross_validation:
        cross_validated = cross_validation_cells(config, paper.paper).values()
        cells |= dict.fromkeys(cell for own in cross_validated for cell in own)
    for cell in list(cells):
        if cell.overrides == ((ov.HYPERPARAMETERS, ov.TUNED),):
            cells |= dict.fromkeys(selection_cells(config, cell.system, cell.dataset).values())
        if training := training_cell(config, cell):
            cells[training] = None
        cells |= dict.fromkeys(fused_parts(config, cell).values())
    cells |= dict.fromkeys(filter(None, (waits_for(config, cell) for cell in list(cells))))
    return list(cells)


def _require_questions(config: Config, cell: Cell) -> None:
    system = config.system_at(cell.system, cell.overrides)
    counts = config.dataset_at(cell.dataset, cell.overrides).questions.get("train", {})
    for question_type in config.types_of(cell.subset) or ():
        count = counts.get(question_type)
        if count is not None and system.p > count and system.needs_prototypes:
            raise AnalogyQAError(
                f"p = {system.p} ({cell.label}): more than the {count} training questions of type "
                f"{question_type} in {cell.dataset}, each of which gives at most one prototype; "
                f"allowed: 1 to {count} (prototypes.p, or sweeps.p for the points of a figure)"
            )


def selection_cells(config: Config, system: str, dataset: str) -> dict[str, Cell]:
    """Return the cell of each setting that a system may choose from on a data set."""
    subset = config.find_selection(system).subset
    choices = config.hyperparameter_choices(system, ((ov.HYPERPARAMETERS, ov.TUNED),))
    return {name: Cell(system, dataset, subset, overrides) for name, overrides in choices.items()}


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
                coordinates = Coordinates(
                    system=system, dataset=dataset, subset=study.subset, **changes
                )
                if not why_no_run(coordinates, config):
                    cells[system, dataset, choice, value] = cell_at(coordinates, config)
    return cells


def cross_validation_cells(config: Config, paper: str) -> dict[tuple[str, str], list[Cell]]:
    """Return the cells of (system, data set) of a paper's cross-validation, one for each fold.

    A system that is left out on a data set has none there.
    """
    study = config.studies[paper].cross_validation
    return {
        (system, dataset): [
            cell_at(
                Coordinates(system=system, dataset=dataset, subset=study.subset, fold=fold), config
            )
            for fold in (fold_name(number, study.folds) for number in range(1, study.folds + 1))
        ]
        for dataset in (study.datasets if study else ())
        for system in study.systems
        if not why_left_out(system, dataset, config)
    }


def fold_cells(coordinates: Coordinates, config: Config, paper: str) -> list[Cell]:
    """Return the cells, one for each fold, that cross-validate coordinates; [] for none."""
    study = config.studies[paper].cross_validation if paper in config.studies else None
    if study is None or coordinates.overrides or coordinates.subset != study.subset:
        return []
    return cross_validation_cells(config, paper).get((coordinates.system, coordinates.dataset), [])


def claim_cells(config: Config, paper: Paper) -> list[Cell]:
    """Return the cells that a paper's claims compare, the primary ones cross-validated, too."""
    claims = paper.claims.values()
    cells = dict.fromkeys(_cells(claim_sides(claims, SCORE), config))
    cells |= dict.fromkeys(norm_cells(config, paper))
    for coordinates in claim_sides(claim for claim in claims if claim.primary):
        cells |= dict.fromkeys(fold_cells(coordinates, config, paper.paper))
    for cell in list(cells):
        cells |= dict.fromkeys(fused_parts(config, cell).values())
    return list(cells)


def norm_cells(config: Config, paper: Paper) -> list[Cell]:
    """Return the cells whose norms a paper's claims compare."""
    return _cells(claim_sides(paper.claims.values(), NORM), config, stated_only=True)


def varied_systems(config: Config, papers: Iterable[Paper] = ()) -> dict[str, System]:
    """Return the systems with the overrides that something asks for, by `system overrides`."""
    places = [
        Coordinates(system=name, **changes)
        for study in config.studies.values()
        if study.sensitivity
        for changes in study.sensitivity.variations().values()
        for name in study.sensitivity.systems
    ]
    for paper in papers:
        places += [
            coordinates
            for name in paper.artefacts
            for coordinates in artefact_coordinates(config, paper, name)
        ]
        places += [
            coordinates
            for view in paper.views.values()
            for coordinates in view.coordinates().values()
        ]
        places += claim_sides(paper.claims.values())
    varied = {}
    for coordinates in places:
        overrides = (
            ()
            if why_no_run(coordinates, config)
            else config.canonical_overrides(coordinates.system, coordinates.overrides)
        )
        if overrides:
            varied[system_key(coordinates.system, overrides)] = config.system_at(
                coordinates.system, overrides
            )
    return varied


def dataset_question_types(
    config: Config, papers: Mapping[str, Paper], cells: Iterable[Cell], dataset: str
) -> dict[str, list[str]]:
    """Return the question types of a data set: of those configured the ones asked for.

    What cells, tables that count and expected counts ask for: so a type that another data set has
    leaves this one's corpus as it is.
    """
    places = [
        number.coordinates
        for paper in papers.values()
        for artefact in paper.artefacts.values()
        for number in artefact.numbers()
        if number.coordinates.count
    ]
    subsets = {each.subset for each in (*cells, *places) if each.dataset == dataset}
    asked = {kind for subset in subsets & {*config.subsets} for kind in config.subsets[subset]}
    asked |= {kind for counts in config.datasets[dataset].questions.values() for kind in counts}
    return {kind: words for kind, words in config.question_types.items() if kind in asked}
