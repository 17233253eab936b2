"""The tables, figures and reports that a run makes, and the files that each of them reads."""

from collections.abc import Iterable

from analogyqa.cells import (
    Cell,
    artefact_cells,
    artefact_coordinates,
    claim_cells,
    claim_sides,
    explained_cells,
    fused_parts,
    norm_cells,
    systems_with_costs,
    training_cell,
    view_tables,
)
from analogyqa.experiments.inputs import Inputs
from analogyqa.experiments.vector_inputs import Files, Wildcards
from analogyqa.settings.artefacts import CITED, Artefact
from analogyqa.settings.coordinates import Coordinates

_FORMATS = {"table": ("csv", "md", "tex"), "figure": ("png", "svg", "csv")}


class Outputs:
    """The targets of a run, and the input functions of the rules that report on results."""

    def __init__(self, inputs: Inputs) -> None:
        self.inputs, self.experiment = inputs, inputs.experiment
        self.config, self.results = inputs.config, inputs.results

    # Targets

    def tables_and_figures(self) -> list[str]:
        """Return every table and figure of every paper, in each format."""
        return [
            f"{self.results}/{kind}s/{name}/{artefact}.{ending}"
            for name, paper in self.experiment.papers.items()
            for artefact in paper.tables_and_figures
            for kind, endings in _FORMATS.items()
            if artefact.startswith(kind)
            for ending in endings
        ]

    def verdict_figures(self) -> list[str]:
        """Return the picture of the verdicts on each paper whose numbers are compared."""
        return [
            f"{self.results}/figures/{name}/verdicts.svg"
            for name, paper in self.experiment.papers.items()
            if self.config.comparable
            and any(
                number.published is not None and number.kind != CITED
                for artefact in paper.artefacts.values()
                for number in artefact.numbers()
            )
        ]

    def cross_validation(self) -> list[str]:
        tables = [f"{name}/cross_validation" for name in self.experiment.cross_validation]
        for name in self.experiment.cross_validation:
            study = self.config.studies[name].cross_validation
            tables += [f"{name}/pairs"] if study and study.pairs else []
        return [f"{self.results}/tables/{table}.csv" for table in tables]

    def sensitivity(self) -> list[str]:
        return [
            f"{self.results}/tables/{name}/sensitivity.csv" for name in self.experiment.sensitivity
        ]

    def examples(self) -> list[str]:
        """Return the explained decisions that the report shows."""
        papers = self.experiment.papers.values()
        cells = _distinct(explained_cells(self.config, paper) for paper in papers)
        return [f"{self.results}/runs/{cell.path}/examples.json" for cell in cells]

    # Inputs

    def render_table(self, wildcards: Wildcards) -> Files:
        return self._artefact(wildcards.paper, f"table{wildcards.number}")

    def draw_figure(self, wildcards: Wildcards) -> Files:
        return self._artefact(wildcards.paper, f"figure{wildcards.number}")

    def _artefact(self, paper_name: str, name: str) -> Files:
        """Return the files of the runs, corpora and costs, or the tables of a view, to show."""
        paper = self.experiment.papers[paper_name]
        if name in paper.views:
            tables = view_tables(self.config, paper.views[name]).values()
            paths = dict.fromkeys(table.path for table in tables if table.path)
            return {"tables": [f"{self.results}/{path}" for path in paths]}
        return {
            **self._runs(artefact_cells(self.config, paper, name)),
            "corpora": self._counted_corpora([paper.artefacts[name]]),
            "costs": self._costs(artefact_coordinates(self.config, paper, name)),
        }

    def write_ledger(self) -> Files:
        papers = self.experiment.papers.values()
        artefacts = [artefact for paper in papers for artefact in paper.artefacts.values()]
        return {
            **self._runs(self.experiment.cells),
            "corpora": self._counted_corpora(artefacts),
            "costs": self._cost_files(self.experiment.costs),
        }

    def judge_claims(self) -> Files:
        papers = self.experiment.papers.values()
        cells = _distinct(claim_cells(self.config, paper) for paper in papers)
        inside = _distinct(norm_cells(self.config, paper) for paper in papers)
        sides = claim_sides(claim for paper in papers for claim in paper.claims.values())
        return {
            **self._runs(cells),
            "histories": self._histories(cells),
            "insides": [f"{self.results}/runs/{cell.path}/inside.parquet" for cell in inside],
            "costs": self._costs(sides),
        }

    def write_cross_validation(self, wildcards: Wildcards) -> Files:
        """Return the runs of the folds, and the corpora of the folds and of their data sets."""
        cells = self.experiment.cross_validation[wildcards.paper]
        corpora = {cell.corpus: cell.dataset for cell in cells}
        names = [*dict.fromkeys(corpora.values()), *corpora]
        return {
            **self._runs(cells),
            "histories": self._histories(cells),
            "corpora": [f"{self.results}/corpora/{name}.parquet" for name in names],
        }

    def write_pairs(self, wildcards: Wildcards) -> Files:
        cells = self.experiment.cross_validation[wildcards.paper]
        datasets = dict.fromkeys(cell.dataset for cell in cells)
        files = self._runs(cells)
        for stage in ("corpora", "entities"):
            is_made = stage == "corpora" or self.inputs.available.entities
            names = datasets if is_made else ()
            files[stage] = [f"{self.results}/{stage}/{name}.parquet" for name in names]
        return files

    def write_sensitivity(self, wildcards: Wildcards) -> Files:
        cells = self.experiment.sensitivity[wildcards.paper]
        return self._runs(cells) | {"histories": self._histories(cells)}

    def import_to_mlflow(self) -> Files:
        return self._runs(self.experiment.cells)

    def _counted_corpora(self, artefacts: Iterable[Artefact]) -> list[str]:
        """Return the corpora of which tables or figures show counts."""
        numbers = (number for artefact in artefacts for number in artefact.numbers())
        counted = {number.coordinates.dataset for number in numbers if number.coordinates.count}
        datasets = (dataset for dataset in self.config.datasets if dataset in counted)
        return [f"{self.results}/corpora/{dataset}.parquet" for dataset in datasets]

    def _runs(self, cells: list[Cell]) -> Files:
        return {
            "metrics": self.inputs.runs(cells, "metrics.parquet"),
            "records": self.inputs.runs(cells, "run.json"),
        }

    def _histories(self, cells: Iterable[Cell]) -> list[str]:
        """Return the histories of the cells, and of the cells that they fuse, that are trained."""
        parts = _distinct([cell, *fused_parts(self.config, cell).values()] for cell in cells)
        trained = [
            cell
            for cell in parts
            if self.config.systems[cell.system].trained and not training_cell(self.config, cell)
        ]
        return self.inputs.runs(trained, "history.parquet")

    def _costs(self, coordinates: Iterable[Coordinates]) -> list[str]:
        return self._cost_files(systems_with_costs(coordinates, self.config))

    def _cost_files(self, data: Iterable[tuple[str, str]]) -> list[str]:
        return [f"{self.results}/costs/{dataset}/{subset}.json" for dataset, subset in data]


def _distinct(groups: Iterable[Iterable]) -> list:
    return list(dict.fromkeys(item for group in groups for item in group))
