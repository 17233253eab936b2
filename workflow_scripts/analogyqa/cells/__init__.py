"""The cells of a run: what the tables, figures and claims of the papers ask for."""

from collections.abc import Iterable, Mapping
from itertools import chain, product
from pathlib import Path
from typing import NamedTuple

from analogyqa.cells.cell import Cell, cells_by_run, corpus_name, split_corpus, without_fold
from analogyqa.cells.coordinates import (
    all_costs,
    artefact_coordinates,
    cell_at,
    cells_by_hyperparameters,
    claim_sides,
    extra_systems,
    has_costs,
    system_key,
    systems_with_costs,
    why_left_out,
    why_no_run,
)
from analogyqa.errors import AnalogyQAError
from analogyqa.settings import overrides as ov
from analogyqa.settings.artefacts import View
from analogyqa.settings.coordinates import KINDS, NORM, SCORE, Coordinates
from analogyqa.settings.load import PAPERS
from analogyqa.settings.paper import OWN, Paper, build_own_paper, load_paper
from analogyqa.settings.run import Config
from analogyqa.settings.systems import System


def load_papers(config: Config, folder: Path = PAPERS) -> dict[str, Paper]:
    """Return the papers of a run; the tables of the user's own data sets, if any, come last.

    Raises AnalogyQAError when a paper.yaml is broken or names another paper than its folder.
    """
    papers = {}
    for name in config.papers:
        path = folder / name / "paper.yaml"
        papers[name] = load_paper(path)
        if papers[name].paper != name:
            raise AnalogyQAError(
                f"{path}: the key paper is {papers[name].paper!r}. Set it to {name}, the name of "
                "the folder."
            )
    own_paper = build_own_paper(config)
    return papers | ({OWN: own_paper} if own_paper else {})


class ViewTable(NamedTuple):
    """The table that a panel of a view reads, or the reason why there is none.

    Attributes:
        path: Its path below the results.
        cell: The cell that it is about, None for a corpus.
    """

    path: str = ""
    cell: Cell | None = None
    reason: str = ""


def view_tables(config: Config, view: View) -> dict[str, ViewTable]:
    """Return the table of each panel of a view."""
    panels = view.coordinates().items()
    return {panel: _view_table(config, coordinates, view) for panel, coordinates in panels}


def _view_table(config: Config, coordinates: Coordinates, view: View) -> ViewTable:
    reads = view.spec.reads
    if reason := why_no_run(coordinates, config):
        return ViewTable(reason=reason)
    if reads == "corpus":
        return ViewTable(f"corpora/{coordinates.dataset}.parquet")
    system = config.systems[coordinates.system]
    if reads == "inside" and not (system.encoder_spec and system.encoder_spec.trained):
        return ViewTable(reason="its encoder is not trained, so there is nothing to look into")
    if reads == "decisions" and not system.compares:
        return ViewTable(reason="it does not compare with prototypes")
    cell = cell_at(coordinates, config)
    return ViewTable(f"runs/{cell.path}/{reads}.parquet", cell)


def explained_cells(config: Config, paper: Paper) -> list[Cell]:
    """Return the trained cells whose decisions the report explains."""
    explained = [view for view in paper.views.values() if view.spec.is_explained]
    tables = (table for view in explained for table in view_tables(config, view).values())
    cells = dict.fromkeys(table.cell for table in tables if table.cell)
    return [cell for cell in cells if config.systems[cell.system].trained]


def artefact_cells(config: Config, paper: Paper, name: str) -> list[Cell]:
    """Return the cells that a table or figure shows; none for a table that only counts."""
    if name in paper.views:
        tables = view_tables(config, paper.views[name]).values()
        return list(dict.fromkeys(table.cell for table in tables if table.cell))
    measured = [
        coordinates
        for coordinates in artefact_coordinates(config, paper, name)
        if KINDS[coordinates.kind].from_metrics
    ]
    return _cells_at(measured, config, paper_only=paper.artefacts[name].is_figure)


def _cells_at(
    all_coordinates: Iterable[Coordinates], config: Config, paper_only: bool = False
) -> list[Cell]:
    """Return the cells at some coordinates; `paper_only` leaves out tuned hyperparameters."""
    cells: list[Cell] = []
    for coordinates in all_coordinates:
        if not why_no_run(coordinates, config):
            reported = list(cells_by_hyperparameters(coordinates, config).values())
            cells += reported[:1] if paper_only else reported
    return list(dict.fromkeys(cells))


def reported_cells(config: Config, papers: Mapping[str, Paper]) -> list[Cell]:
    """Return every cell of the papers, without those of sensitivity studies.

    Raises AnalogyQAError when a cell needs more prototypes than there are questions.
    """
    by_paper = (paper_cells(config, paper) for paper in papers.values())
    cells = list(dict.fromkeys(chain.from_iterable(by_paper)))
    for cell in cells:
        _require_questions(config, cell)
    return cells


def paper_cells(config: Config, paper: Paper) -> list[Cell]:
    """Return every cell that the artefacts, claims and cross-validation of a paper ask for.

    Include the cells that these depend on: the candidates for tuned hyperparameters, the cells
    that train an encoder for solving analogies, the parts of fused systems, and the cells whose
    training run another one starts from.
    """
    cells = [
        cell for name in paper.tables_and_figures for cell in artefact_cells(config, paper, name)
    ]
    cells += claim_cells(config, paper)
    for folds in cross_validation_cells(config, paper.paper).values():
        cells += folds
    for cell in list(dict.fromkeys(cells)):
        if cell.overrides == ((ov.HYPERPARAMETERS, ov.TUNED),):
            cells += selection_cells(config, cell.system, cell.dataset).values()
        if training := cell.training_cell(config):
            cells.append(training)
        cells += cell.parts(config).values()
    cells = list(dict.fromkeys(cells))
    cells += filter(None, [cell.prerequisite(config) for cell in cells])
    return list(dict.fromkeys(cells))


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
    """Return the candidates for the tuned hyperparameters of a system: name to cell."""
    selection = config.find_selection(system)
    if selection is None:
        return {}
    choices = config.hyperparameter_choices(system, ((ov.HYPERPARAMETERS, ov.TUNED),))
    return {
        name: Cell(system, dataset, selection.subset, overrides)
        for name, overrides in choices.items()
    }


def sensitivity_cells(config: Config, paper: str) -> dict[tuple[str, str, str, str], Cell]:
    """Return the cell of each (system, data set, choice, value) of a paper's sensitivity study.

    The choice `paper` changes nothing. Variations that `left_out` names have no cell, and those
    that change nothing in a system or data set have the paper's own cell.
    """
    cells: dict[tuple[str, str, str, str], Cell] = {}
    if (study := config.studies_of(paper).sensitivity) is None:
        return cells
    for system, dataset in product(study.systems, study.datasets):
        coordinates = Coordinates(system=system, dataset=dataset, subset=study.subset)
        for (choice, value), changes in study.variations().items():
            varied = coordinates | Coordinates(**changes)
            if not why_no_run(varied, config):
                cells[system, dataset, choice, value] = cell_at(varied, config)
    return cells


def cross_validation_cells(config: Config, paper: str) -> dict[tuple[str, str], list[Cell]]:
    """Return the cells of a paper's cross-validation: (system, data set) to a cell for each fold.

    Systems that are left out on a data set have no entry for it.
    """
    study = config.studies_of(paper).cross_validation
    if study is None:
        return {}
    folds = [f"{number}of{study.folds}" for number in range(1, study.folds + 1)]
    return {
        (system, dataset): [
            cell_at(
                Coordinates(system=system, dataset=dataset, subset=study.subset, fold=fold), config
            )
            for fold in folds
        ]
        for dataset, system in product(study.datasets, study.systems)
        if not why_left_out(system, dataset, config)
    }


def fold_cells(coordinates: Coordinates, config: Config, paper: str) -> list[Cell]:
    """Return the cells that cross-validate coordinates, one for each fold; [] if there are none."""
    study = config.studies_of(paper).cross_validation
    if study is None or coordinates.overrides or coordinates.subset != study.subset:
        return []
    cells = cross_validation_cells(config, paper)
    return cells.get((coordinates.system, coordinates.dataset), [])


def claim_cells(config: Config, paper: Paper) -> list[Cell]:
    """Return the cells that a paper's claims compare, including the folds of primary claims."""
    claims = paper.claims.values()
    cells = _cells_at(claim_sides(claims, SCORE), config) + norm_cells(config, paper)
    for coordinates in claim_sides(claim for claim in claims if claim.primary):
        cells += fold_cells(coordinates, config, paper.paper)
    cells += [part for cell in cells for part in cell.parts(config).values()]
    return list(dict.fromkeys(cells))


def norm_cells(config: Config, paper: Paper) -> list[Cell]:
    """Return the cells whose norms a paper's claims compare."""
    return _cells_at(claim_sides(paper.claims.values(), NORM), config, paper_only=True)


def varied_systems(config: Config, papers: Iterable[Paper] = ()) -> dict[str, System]:
    """Return every system with overrides that is asked for, by its key in `left_out`."""
    requested = [
        Coordinates(system=name, **changes)
        for study in config.studies.values()
        if study.sensitivity
        for changes in study.sensitivity.variations().values()
        for name in study.sensitivity.systems
    ]
    for paper in papers:
        for name in paper.artefacts:
            requested += artefact_coordinates(config, paper, name)
        for view in paper.views.values():
            requested += view.coordinates().values()
        requested += claim_sides(paper.claims.values())
    varied = {}
    for coordinates in requested:
        system = coordinates.system
        if not system or why_no_run(coordinates, config):
            continue
        if overrides := config.canonical_overrides(system, coordinates.overrides):
            varied[system_key(system, overrides)] = config.system_at(system, overrides)
    return varied


def dataset_question_types(
    config: Config, papers: Mapping[str, Paper], cells: Iterable[Cell], dataset: str
) -> dict[str, list[str]]:
    """Return the configured question types that something asks for on a data set, with their words.

    Types are asked for by cells, by tables that count, and by expected counts. Types that only
    another data set uses are left out, so adding one does not rebuild this corpus.
    """
    counted = [
        number.coordinates
        for paper in papers.values()
        for artefact in paper.artefacts.values()
        for number in artefact.numbers()
        if number.coordinates.count
    ]
    subsets = {cell.subset for cell in cells if cell.dataset == dataset}
    subsets |= {count.subset for count in counted if count.subset and count.dataset == dataset}
    names = {name for subset in subsets & {*config.subsets} for name in config.subsets[subset]}
    names |= {name for counts in config.datasets[dataset].questions.values() for name in counts}
    return {name: words for name, words in config.question_types.items() if name in names}
