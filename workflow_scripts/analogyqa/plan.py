"""The cells: what is run, as the configuration asks for it."""

from itertools import product
from typing import NamedTuple

from analogyqa.question_types import COMB
from analogyqa.settings.paper import Artefact
from analogyqa.settings.run import Config
from analogyqa.settings.studies import CHOSEN, PAPER, join_id, split_id
from analogyqa.settings.systems import Training


class Cell(NamedTuple):
    """One job of the cluster: a model on a subset of a data set with p prototypes, all seeds."""

    model: str
    dataset: str
    subset: str
    p: int

    @property
    def path(self) -> str:
        return f"{self.model}/{self.dataset}/{self.subset}/p{self.p}"


def _model_ids(config: Config, subset: str) -> list[str]:
    """Return all the models run on a subset, the selected ones at each of their settings."""
    names = [name for name in config.models if subset in config.subsets_of(name)]
    ids = list(names)
    for name in filter(names.__contains__, config.selection.models):
        if subset == config.selection.subset:
            ids += [join_id(name, setting) for setting in config.selection.settings]
        ids.append(join_id(name, CHOSEN))
    return ids


def cells_of(config: Config) -> list[Cell]:
    """Return every cell that the tables and figures are made of."""
    cells = [
        Cell(model, dataset, subset, config.p_of(split_id(model)[0]))
        for dataset in config.datasets
        for subset in config.subsets
        for model in _model_ids(config, subset)
    ]
    cells += [
        Cell(model, dataset, COMB, p)
        for dataset in config.datasets
        for model, settings in config.models.items()
        if settings.trained and settings.ranker == "analogy" and COMB in config.subsets_of(model)
        for p in config.prototypes.curve
    ]
    return list(dict.fromkeys(cells))


def cells_of_table(config: Config, artefact: Artefact) -> list[Cell]:
    """Return the cells that a table shows: the paper's systems and ours, on its data and subsets.

    A table that counts questions has none.
    """
    if artefact.value == "questions":
        return []
    shown = {(number.where.dataset, number.where.subset) for number in artefact.numbers()}
    return [
        cell
        for cell in cells_of(config)
        if (cell.dataset, cell.subset) in shown and cell.p == config.p_of(split_id(cell.model)[0])
    ]


def cells_of_figure(config: Config, artefact: Artefact) -> list[Cell]:
    """Return the cells that a figure shows: its systems on all data sets, at each p."""
    shown = {(number.where.model, number.where.subset) for number in artefact.numbers()}
    return [cell for cell in cells_of(config) if (cell.model, cell.subset) in shown]


def sensitivity_cells(config: Config) -> dict[tuple[str, str, str], Cell]:
    """Return the cell of (model, data set, variation), the variation `paper` being none.

    A variation that `left_out` names has none. Where one changes nothing in what a model does
    or in a data set, the paper's is taken.
    """
    cells = {}
    for model, dataset, name in product(
        config.sensitivity.models, config.varied_datasets, [PAPER, *config.sensitivity.variations()]
    ):
        model_id, dataset_id = join_id(model, name), join_id(dataset, name)
        if model_id in config.left_out:
            continue
        if _effective(config, model_id) == _effective(config, model):
            model_id = model
        if _read(config, dataset_id) == _read(config, dataset):
            dataset_id = dataset
        p = config.p_of(model)
        cells[model, dataset, name] = Cell(model_id, dataset_id, config.sensitivity.subset, p)
    return cells


def _effective(config: Config, model_id: str) -> tuple[dict, Training]:
    """Return what a model does: only analogy aggregates, and has both sides."""
    does, training = config.model_of(model_id).scientific(), config.training_of(*split_id(model_id))
    if does["ranker"] != "analogy":
        del does["aggregate"]
        if training.loss == "lwda":
            training = training.model_copy(update={"loss": "printed"})
    return does, training


def _read(config: Config, dataset_id: str) -> dict:
    """Return how a data set is read, besides the counts that it is checked against."""
    return config.dataset_of(dataset_id).model_dump(exclude={"questions"})


def selection_cells(config: Config, model: str, dataset: str) -> dict[str, Cell]:
    """Return the cell of each setting that `model` may choose from on `dataset`."""
    return {
        setting: Cell(
            join_id(model, setting),
            dataset,
            config.selection.subset,
            config.p_of(model),
        )
        for setting in config.settings
    }
