"""The cells of a run: what the tables, figures and claims of the papers ask for."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, product
from pathlib import Path
from typing import NamedTuple

from analogyqa.cells.cell import (
    Cell,
    cells_by_run,
    corpora_by_seed,
    corpus_name,
    split_corpus,
    without_fold,
)
from analogyqa.errors import AnalogyQAError
from analogyqa.settings import overrides as ov
from analogyqa.settings.artefacts import View
from analogyqa.settings.coordinates import KINDS, NORM, SCORE, Coordinates
from analogyqa.settings.data import ALL, TRAINED_ON
from analogyqa.settings.load import PAPERS
from analogyqa.settings.overrides import Overrides
from analogyqa.settings.paper import OWN, Claim, Paper, build_own_paper, load_paper
from analogyqa.settings.run import Config
from analogyqa.settings.studies import PAPER, CrossValidation
from analogyqa.settings.systems import System
from analogyqa.tasks import category_key

TUNED: Overrides = ((ov.HYPERPARAMETERS, ov.TUNED),)


def load_papers(config: Config, folder: Path = PAPERS) -> dict[str, Paper]:
    """Return the papers of a run; the tables of the user's own data sets, if any, come last.

    Raises AnalogyQAError when a paper.yaml is broken or names another paper than its folder.
    """
    papers = {name: load_paper(folder / name / "paper.yaml") for name in config.papers}
    for name, paper in papers.items():
        if paper.paper != name:
            raise AnalogyQAError(
                f"{folder / name}/paper.yaml: the key paper is {paper.paper!r}. Set it to {name}, "
                "the name of the folder."
            )
    own_paper = build_own_paper(config)
    return papers | ({OWN: own_paper} if own_paper else {})


# From coordinates to cells


def why_no_run(coordinates: Coordinates, config: Config) -> str:
    """Return why there can be no run at these coordinates; "" if there can be one."""
    return next(filter(None, _obstacles(coordinates, config)), "")


def _obstacles(coordinates: Coordinates, config: Config) -> Iterator[str]:
    """Yield obstacles to a run, or "" for none; each check may rely on those before it."""
    system, dataset, overrides = coordinates.system, coordinates.dataset, coordinates.overrides
    for name in filter(None, (system, coordinates.over)):
        yield why_left_out(name, dataset, config)
    yield config.left_out.get(dataset, "")
    for section, value, known in (
        ("data set", dataset, config.datasets),
        ("subset", coordinates.subset, {*config.subsets, *config.relations, ALL}),
        ("system", system, config.systems),
        ("other system", coordinates.over, config.systems),
    ):
        if value and value not in known:
            yield f"{section} {value} is not configured"
    if system and not coordinates.cost:
        reason = config.systems[system].only_costs_on(dataset)
        yield f"only its costs are measured: {reason}" if reason else ""
    for name, value in overrides:
        points = config.sweeps.get(name)
        if points and value not in map(ov.as_text, points):
            yield f"{name} = {value} is not among the points of sweeps.{name}"
    if dataset and config.datasets[dataset].gives_relations:
        yield from _solving_obstacles(coordinates, config)
    if not system:
        return
    if dataset and config.dataset_at(dataset, overrides).is_only_folded:
        key = f"datasets.{dataset}.train"
        yield f"{dataset} has no train split ({key}), and is only cross-validated"
    types = config.subset_types(coordinates.subset) or ()
    specs = [part.ranker_spec for part in config.with_parts(system)]
    if len(types) == 1 and any(spec.prototype_choice for spec in specs):
        yield f"{system} needs prototypes of another question type, and there is no other"
    seeds = len(config.seeds_at(coordinates.subset, overrides))
    for name, shifts in config.systems[system].parts.items():
        if max(shifts) >= seeds:
            yield f"it fuses {max(shifts) + 1} seeds of {name}, but `seeds` gives only {seeds}"
    try:
        canonical = config.canonical_overrides(system, overrides)
        config.check_system(system, config.system_at(system, canonical))
    except ValueError as error:
        yield str(error).partition("; ")[0]
    yield why_left_out(system, dataset, config, overrides)


def _solving_obstacles(coordinates: Coordinates, config: Config) -> Iterator[str]:
    """Yield obstacles to solving analogies, which another cell trains an encoder for."""
    dataset = config.datasets[coordinates.dataset]
    for name in config.subset_types(coordinates.subset) or dataset.relations:
        if name not in dataset.relations:
            yield f"{coordinates.dataset} has no category {name}"
        yield config.left_out.get(category_key(name), "")
    if not coordinates.system:
        return
    system = config.systems[coordinates.system]
    encoder = system.encoder_spec
    if not system.ranker_spec.needs_encoder or (encoder and encoder.gives_words):
        yield f"{coordinates.system} gives no sentence vectors"
    if system.vectors and config.vectors[system.vectors].lemmas:
        yield f"{coordinates.system} reads lemmas, and analogies are between whole sentences"
    if system.weighting != "uniform":
        yield f"{coordinates.system} weights words by training sentences, and there are none"
    if not system.trained:
        return
    overrides = dict(coordinates.overrides)
    if TRAINED_ON not in overrides:
        yield f"{coordinates.system} is trained, and there is nothing to train it on here"
    name, subset = overrides[TRAINED_ON].split("+")
    yield config.left_out.get(name, "")
    if name not in config.datasets or config.datasets[name].gives_relations:
        yield f"{TRAINED_ON}: no data set {name} to train on"
    if subset not in (ALL, *config.subsets):
        yield f"{TRAINED_ON}: no subset {subset}"


def why_left_out(
    system: str, dataset: str, config: Config, overrides: Overrides | None = None
) -> str:
    """Return why a system, or a part of a fused one, is left out on a data set; "" if it is not.

    With overrides, return why it is left out with exactly these.
    """
    for name in (system, *(config.systems[system].parts if system in config.systems else ())):
        ending = ""
        if overrides is not None:
            ending = f" {ov.to_text(config.canonical_overrides(name, overrides))}"
        for key in (f"{name}{ending}", f"{name} {dataset}{ending}"):
            if key in config.left_out:
                return config.left_out[key]
    return ""


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
        cells[ov.TUNED] = cell._replace(overrides=TUNED)
    return cells


def extra_systems(config: Config, paper: Paper, name: str) -> list[str]:
    """Return the systems that get a row of their own in a table although the paper has none.

    The paper's configuration lists them; those that no paper configures follow.
    """
    artefact = paper.artefacts[name]
    if not artefact.has_systems or paper.paper == OWN:
        return []
    listed = config.paper_studies(paper.paper).extra_rows.get(name, [])
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
        for *_, coordinates in artefact.system_cells(system)
    ]


def claim_sides(claims: Iterable[Claim], *kinds: str) -> list[Coordinates]:
    """Return both sides of every comparison of claims, optionally only of some kinds of numbers."""
    selected = (claim for claim in claims if not kinds or claim.kind in kinds)
    return [side for claim in selected for pair in claim.sides() for side in pair]


def has_costs(system: System) -> bool:
    """Return whether training costs are measured; with quadruples, they depend on prototypes."""
    return system.trained and not system.learns_from_quadruples


def systems_with_costs(
    all_coordinates: Iterable[Coordinates], config: Config
) -> dict[tuple[str, str], list[str]]:
    """Return the systems whose costs are asked for at some coordinates, by (data set, subset)."""
    systems: dict[tuple[str, str], list[str]] = {}
    for coordinates in all_coordinates:
        if coordinates.cost and not why_no_run(coordinates, config):
            names = systems.setdefault((coordinates.dataset, coordinates.subset), [])
            for name in filter(None, (coordinates.system, coordinates.over)):
                if has_costs(config.systems[name]) and name not in names:
                    names.append(name)
    return {data: names for data, names in systems.items() if names}


def paper_coordinates(config: Config, paper: Paper) -> list[Coordinates]:
    """Return the coordinates of all of our values that a paper's artefacts and claims need."""
    views = [at for view in paper.views.values() for at in view.coordinates().values()]
    artefacts = (artefact_coordinates(config, paper, name) for name in paper.artefacts)
    return [*chain.from_iterable(artefacts), *views, *claim_sides(paper.claims.values())]


# The cells of tables, figures, claims and studies


class ViewTable(NamedTuple):
    """The table that a panel of a view reads, or the reason why there is none."""

    path: str = ""  # below the results
    cell: Cell | None = None  # None for a corpus
    reason: str = ""


def view_tables(config: Config, view: View) -> dict[str, ViewTable]:
    """Return the table of each panel of a view."""
    tables, reads = {}, view.spec.reads
    for panel, coordinates in view.coordinates().items():
        system = config.systems.get(coordinates.system)
        is_trained = system and system.encoder_spec and system.encoder_spec.trained
        reason = why_no_run(coordinates, config)
        if not reason and reads == "inside" and not is_trained:
            reason = "its encoder is not trained, so there is nothing to look into"
        if not reason and reads == "decisions" and not (system and system.compares):
            reason = "it does not compare with prototypes"
        if reason:
            tables[panel] = ViewTable(reason=reason)
        elif reads == "corpus":
            tables[panel] = ViewTable(f"corpora/{coordinates.dataset}.parquet")
        else:
            cell = cell_at(coordinates, config)
            tables[panel] = ViewTable(f"runs/{cell.path}/{reads}.parquet", cell)
    return tables


def view_cells(config: Config, views: Iterable[View]) -> list[Cell]:
    """Return the cells whose runs are shown by some views."""
    tables = chain.from_iterable(view_tables(config, view).values() for view in views)
    return list(dict.fromkeys(table.cell for table in tables if table.cell))


def explained_cells(config: Config, paper: Paper) -> list[Cell]:
    """Return the trained cells whose decisions the report explains."""
    explained = [view for view in paper.views.values() if view.spec.is_explained]
    cells = view_cells(config, explained)
    return [cell for cell in cells if config.systems[cell.system].trained]


def artefact_cells(config: Config, paper: Paper, name: str) -> list[Cell]:
    """Return the cells that a table or figure shows; none for a table that only counts."""
    if name in paper.views:
        return view_cells(config, [paper.views[name]])
    shown = artefact_coordinates(config, paper, name)
    measured = [at for at in shown if KINDS[at.kind].from_metrics]
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
    cells = chain.from_iterable(paper_cells(config, paper) for paper in papers.values())
    unique = list(dict.fromkeys(cells))
    for cell in unique:
        _require_questions(config, cell)
    return unique


def paper_cells(config: Config, paper: Paper) -> list[Cell]:
    """Return every cell that the artefacts, claims and cross-validation of a paper ask for.

    Include the cells that these depend on: the candidates for tuned hyperparameters, the cells
    that train an encoder for solving analogies, the parts of fused systems, and the cells whose
    training run another one starts from.
    """
    names = paper.tables_and_figures
    shown = chain.from_iterable(artefact_cells(config, paper, name) for name in names)
    folds = chain.from_iterable(cross_validation_cells(config, paper.paper).values())
    cells = [*shown, *claim_cells(config, paper), *folds]
    for cell in list(dict.fromkeys(cells)):
        if cell.overrides == TUNED:
            cells += selection_cells(config, cell.system, cell.dataset).values()
        cells += filter(None, [cell.training_cell(config), *cell.parts(config).values()])
    cells = list(dict.fromkeys(cells))
    cells += filter(None, [cell.prerequisite(config) for cell in cells])
    return list(dict.fromkeys(cells))


def _require_questions(config: Config, cell: Cell) -> None:
    system = config.system_at(cell.system, cell.overrides)
    counts = config.dataset_at(cell.dataset, cell.overrides).questions.get("train", {})
    for question_type in config.subset_types(cell.subset) or ():
        count = counts.get(question_type)
        if count is not None and system.p > count and system.needs_prototypes:
            raise AnalogyQAError(
                f"p = {system.p} ({cell.label}): more than the {count} training questions of type "
                f"{question_type} in {cell.dataset}, each of which gives at most one prototype; "
                f"allowed: 1 to {count} (prototypes.p, or sweeps.p for the points of a figure)"
            )


def selection_cells(config: Config, system: str, dataset: str) -> dict[str, Cell]:
    """Return the candidates for the tuned hyperparameters of a system: name to cell."""
    if (selection := config.find_selection(system)) is None:
        return {}
    choices = config.hyperparameter_choices(system, TUNED)
    return {name: Cell(system, dataset, selection.subset, at) for name, at in choices.items()}


def sensitivity_cells(config: Config, paper: str) -> dict[tuple[str, str, str, str], Cell]:
    """Return the cell of each (system, data set, choice, value) of a paper's sensitivity study.

    The choice `paper` changes nothing. Variations that `left_out` names have no cell, and those
    that change nothing in a system or data set have the paper's own cell.
    """
    cells: dict[tuple[str, str, str, str], Cell] = {}
    if (study := config.paper_studies(paper).sensitivity) is None:
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
    study = config.paper_studies(paper).cross_validation
    if study is None:
        return {}
    return {
        (system, dataset): _fold_cells(system, dataset, study, config)
        for dataset, system in product(study.datasets, study.systems)
        if not why_left_out(system, dataset, config)
    }


def _fold_cells(system: str, dataset: str, study: CrossValidation, config: Config) -> list[Cell]:
    at = Coordinates(system=system, dataset=dataset, subset=study.subset)
    folds = (Coordinates(fold=f"{n}of{study.folds}") for n in range(1, study.folds + 1))
    return [cell_at(at | fold, config) for fold in folds]


def fold_cells(coordinates: Coordinates, config: Config, paper: str) -> list[Cell]:
    """Return the cells that cross-validate coordinates, one for each fold; [] if there are none."""
    study = config.paper_studies(paper).cross_validation
    system, dataset = coordinates.system, coordinates.dataset
    if (
        study is None
        or coordinates.overrides
        or coordinates.subset != study.subset
        or system not in study.systems
        or dataset not in study.datasets
        or why_left_out(system, dataset, config)
    ):
        return []
    return _fold_cells(system, dataset, study, config)


def claim_cells(config: Config, paper: Paper) -> list[Cell]:
    """Return the cells that a paper's claims compare, and those of the references beside them.

    These include the folds of primary claims.
    """
    cells = norm_cells(config, paper)
    for claim in paper.claims.values():
        shown = claim_sides([claim], SCORE) + paper.beside(claim)
        cells += _cells_at(shown, config)
        for coordinates in shown if claim.primary else ():
            cells += fold_cells(coordinates, config, paper.paper)
    cells += [part for cell in cells for part in cell.parts(config).values()]
    return list(dict.fromkeys(cells))


def norm_cells(config: Config, paper: Paper) -> list[Cell]:
    """Return the cells whose norms a paper's claims compare."""
    return _cells_at(claim_sides(paper.claims.values(), NORM), config, paper_only=True)


def varied_systems(config: Config, papers: Iterable[Paper] = ()) -> dict[str, System]:
    """Return every system with overrides that is asked for, by its key in `left_out`."""
    studies = [study.sensitivity for study in config.studies.values() if study.sensitivity]
    requested = [
        Coordinates(system=name, **changes)
        for study in studies
        for changes in study.variations().values()
        for name in study.systems
    ]
    requested += chain.from_iterable(paper_coordinates(config, paper) for paper in papers)
    varied = {}
    for coordinates in requested:
        system = coordinates.system
        if not system or why_no_run(coordinates, config):
            continue
        if overrides := config.canonical_overrides(system, coordinates.overrides):
            varied[f"{system} {ov.to_text(overrides)}"] = config.system_at(system, overrides)
    return varied


def dataset_question_types(
    config: Config, papers: Mapping[str, Paper], cells: Iterable[Cell], dataset: str
) -> dict[str, list[str]]:
    """Return the question types, with their words, of cells, counts and tables on a data set.

    Types that only another data set uses are left out, so adding one does not rebuild this corpus.
    """
    artefacts = chain.from_iterable(paper.artefacts.values() for paper in papers.values())
    printed = (number.coordinates for artefact in artefacts for number in artefact.numbers())
    subsets = {cell.subset for cell in cells if cell.dataset == dataset}
    subsets |= {at.subset for at in printed if at.count and at.subset and at.dataset == dataset}
    names = {name for subset in subsets & {*config.subsets} for name in config.subsets[subset]}
    names |= {name for counts in config.datasets[dataset].questions.values() for name in counts}
    return {name: words for name, words in config.question_types.items() if name in names}
