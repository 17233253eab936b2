"""The files that each job reads. Each method is named after its rule."""

from collections.abc import Iterable
from functools import cached_property
from itertools import chain
from pathlib import Path

from analogyqa.analogies.specs import SOLVERS
from analogyqa.cells import (
    Cell,
    cell_with_run,
    fused_parts,
    prerequisite_cell,
    selection_cells,
    split_corpus,
    training_cell,
    without_fold,
)
from analogyqa.cells.configured import Configured, configured_cell, configured_corpus
from analogyqa.cells.targets import require_target
from analogyqa.errors import exit_on_error
from analogyqa.experiments.vector_inputs import Files, VectorInputs, Wildcards
from analogyqa.settings.data import ALL, relation_files
from analogyqa.settings.overrides import HYPERPARAMETERS, TUNED
from analogyqa.settings.systems import System
from analogyqa.tasks.analogies import category_key


class Inputs(VectorInputs):
    """The input functions of the rules."""

    # Corpora

    def build_corpus(self, wildcards: Wildcards) -> Files:
        self._require_same(f"corpora/{wildcards.corpus}.json", self.corpus_configured(wildcards))
        files = self.available.splits[split_corpus(wildcards.corpus)[0]]
        return files | {"sources": self.sources(chain.from_iterable(files.values()))}

    def corpus_configured(self, wildcards: Wildcards) -> Configured:
        types = self.experiment.question_types[split_corpus(wildcards.corpus)[0]]
        return configured_corpus(self.config, wildcards.corpus) | {"question_types": types}

    def corpus_file(self, system: System, corpus: str) -> str:
        """Return the table of a corpus as a system reads it."""
        if system.vectors and self.config.vectors[system.vectors].lemmas:
            return f"{self.results}/lemmas/{corpus}/content.parquet"
        if system.rewriting:
            return f"{self.results}/rewritten/{corpus}/{system.rewriting}.parquet"
        return f"{self.results}/corpora/{corpus}.parquet"

    def rewrite_questions(self, wildcards: Wildcards) -> Files:
        dataset, corpus = split_corpus(wildcards.corpus)[0], wildcards.corpus
        vectors = self.experiment.named_entities.vectors
        return {
            "corpus": f"{self.results}/corpora/{corpus}.parquet",
            # A fold has the same entities as its data set.
            "entities": f"{self.results}/entities/{without_fold(corpus)}.parquet",
            "vectors": f"{self.results}/vectors/{dataset}/{vectors}.npy",
        }

    def lemmatise_corpus(self, wildcards: Wildcards) -> Files:
        stop_words = self.available.stop_words
        files: Files = {"corpus": f"{self.results}/corpora/{wildcards.corpus}.parquet"}
        files["model"] = self.model(self.available.lemmas)
        if stop_words:
            files |= {"stop_words": stop_words, "sources": self.sources([stop_words])}
        return files

    # Prototypes and quadruples

    def prototypes(self, corpus: str, subset: str, seeds: Iterable[int] | None = None) -> list[str]:
        return self._by_seed(f"prototypes/{corpus}/{subset}", ".parquet", seeds)

    def quadruples(
        self, corpus: str, subset: str, p: str | int, stem: str, seeds: Iterable[int] | None = None
    ) -> list[str]:
        return self._by_seed(f"quadruples/{corpus}/{subset}/p{p}", f"/{stem}.parquet", seeds)

    def _by_seed(self, folder: str, ending: str, seeds: Iterable[int] | None) -> list[str]:
        seeds = self.config.all_seeds if seeds is None else seeds
        return [f"{self.results}/{folder}/seed{seed}{ending}" for seed in seeds]

    # Cells

    def job_cell(self, wildcards: Wildcards) -> Cell:
        return self._cell_at(
            f"{wildcards.system}/{wildcards.dataset}/{wildcards.subset}/{wildcards.overrides}"
        )

    def job_system(self, wildcards: Wildcards) -> System:
        cell = self.job_cell(wildcards)
        return self.config.system_at(cell.system, cell.overrides)

    def job_systems(self, wildcards: Wildcards) -> dict[str, System]:
        """Return the system of a cell by its hyperparameters; several if dev will choose."""
        overrides = self.job_cell(wildcards).overrides
        choices = self.config.hyperparameter_choices(wildcards.system, overrides)
        return {
            name: self.config.system_at(wildcards.system, overrides)
            for name, overrides in choices.items()
        }

    def tables_of_cell(self, wildcards: Wildcards) -> Files:
        """Return the tables that a cell reads; a list has one file for each seed."""
        cell, system = self.job_cell(wildcards), self.job_system(wildcards)
        seeds = self.config.seeds_at(cell.subset, cell.overrides)
        files: Files = {"corpus": self.corpus_file(system, cell.corpus)}
        files |= self.vector_files(system, cell.corpus, seeds)
        if system.needs_prototypes:
            files["prototypes"] = self.prototypes(cell.corpus, cell.subset, seeds)
        stems = [
            choice.training.negatives.file_stem
            for choice in self.job_systems(wildcards).values()
            if choice.learns_from_quadruples
        ]
        stems += ["dev", "test"] if system.compares else []
        for stem in stems:
            files[stem] = self.quadruples(cell.corpus, cell.subset, system.p, stem, seeds)
        if first := prerequisite_cell(self.config, cell):
            # Without this, two jobs could make the same training run at once.
            files["start"] = f"{self.results}/runs/{first.path}/run.json"
        if (HYPERPARAMETERS, TUNED) in cell.overrides:
            files["selection"] = f"{self.results}/selection/{cell.system}/{cell.dataset}.json"
        return files

    def run_cell(self, wildcards: Wildcards) -> Files:
        self._require_same_run(self.job_cell(wildcards))
        return self.tables_of_cell(wildcards)

    def read_cell(self, wildcards: Wildcards) -> Files:
        """Return the tables and the record of a cell whose trained encoder is read."""
        cell, tables = self.job_cell(wildcards), self.tables_of_cell(wildcards)
        return tables | {"record": f"{self.results}/runs/{cell.path}/run.json"}

    def find_decisions(self, wildcards: Wildcards) -> Files:
        cell, tables = self.job_cell(wildcards), self.tables_of_cell(wildcards)
        files: Files = {name: tables[name] for name in ("corpus", "prototypes")}
        return files | {"scores": f"{self.results}/runs/{cell.path}/scores.parquet"}

    def explain_examples(self, wildcards: Wildcards) -> Files:
        path = f"runs/{self.job_cell(wildcards).path}/decisions.parquet"
        return self.read_cell(wildcards) | {"decisions": f"{self.results}/{path}"}

    def choose_hyperparameters(self, wildcards: Wildcards) -> Files:
        cells = selection_cells(self.config, wildcards.system, wildcards.dataset)
        # Not by name: Snakemake reserves some names.
        return {
            "files": [f"{self.results}/runs/{cell.path}/history.parquet" for cell in cells.values()]
        }

    def fuse_scores(self, wildcards: Wildcards) -> Files:
        cell = self.job_cell(wildcards)
        self._require_same_run(cell)
        parts = self.job_parts(wildcards).values()
        folders = [f"{self.results}/runs/{part.path}" for part in parts]
        return {
            "corpus": f"{self.results}/corpora/{cell.corpus}.parquet",
            "scores": [f"{folder}/scores.parquet" for folder in folders],
            "records": [f"{folder}/run.json" for folder in folders],
        }

    def job_parts(self, wildcards: Wildcards) -> dict[str, Cell]:
        return fused_parts(self.config, self.job_cell(wildcards))

    def measure_costs(self, wildcards: Wildcards) -> Files:
        """Return the corpus, and the vectors of the systems whose costs are measured on it."""
        systems = self.costed_systems(wildcards).values()
        vectors = {system.vectors for system in systems if system.vectors}
        folder = f"{self.results}/vectors/{wildcards.dataset}"
        files = {name: f"{folder}/{name}.npy" for name in sorted(vectors)}
        return {"corpus": f"{self.results}/corpora/{wildcards.dataset}.parquet", **files}

    def costed_systems(self, wildcards: Wildcards) -> dict[str, System]:
        names = self.experiment.costs[wildcards.dataset, wildcards.subset]
        return {name: self.config.systems[name] for name in names}

    # Analogies of sentences

    def induce_category(self, wildcards: Wildcards) -> Files:
        files = self.available.categories[wildcards.category]
        sources = self.sources(file for alternatives in files.values() for file in alternatives)
        return files | {"model": self.model(self.available.parser), "sources": sources}

    def join_relations(self, wildcards: Wildcards) -> Files:
        return {"files": [*self.relations(wildcards.corpus).values()]}

    def relations(self, dataset: str) -> dict[str, str]:
        """Return the files of a data set's categories, by name, without those that are left out."""
        section = self.config.datasets[dataset]
        if section.folder:
            return {path.stem: str(path) for path in relation_files(Path(section.folder))}
        return {
            name: f"{self.results}/analogies/{name}.parquet"
            for name in section.categories
            if category_key(name) not in self.config.left_out
        }

    def solve_analogies(self, wildcards: Wildcards) -> Files:
        """Return the sentences, the vectors of them or of their words, and any trained weights."""
        for cell in self.solving_cells(wildcards).values():
            self._require_same_run(cell)
        files = {"corpus": f"{self.results}/corpora/{wildcards.dataset}.parquet"}
        system, training = self.solving_job(wildcards)
        if training:
            files["weights"] = f"{self.results}/runs/{training.path}/weights.pt"
        return files | self.vector_files(system, wildcards.dataset)

    def solving_cells(self, wildcards: Wildcards) -> dict[str, Cell]:
        folder = f"{wildcards.system}/{wildcards.dataset}/{ALL}"
        return {
            solver: self._cell_at(f"{folder}/{wildcards.before}solver={solver}{wildcards.after}")
            for solver in SOLVERS
        }

    def solving_job(self, wildcards: Wildcards) -> tuple[System, Cell | None]:
        """Return the system of a solving job, and the cell that trained its encoder, if any."""
        cell = next(iter(self.solving_cells(wildcards).values()))
        system = self.config.system_at(cell.system, cell.overrides)
        return system, training_cell(self.config, cell)

    # Results

    def runs(self, cells: Iterable[Cell], file: str) -> list[str]:
        """Return one file of each run that holds some of the cells."""
        paths = dict.fromkeys(cell_with_run(self.config, cell).path for cell in cells)
        return [f"{self.results}/runs/{path}/{file}" for path in paths]

    @cached_property
    def _cells(self) -> dict[str, Cell]:
        """The cells that `_cell_at` has checked, by path."""
        return {}

    def _cell_at(self, path: str) -> Cell:
        if path not in self._cells:
            target = f"{self.results}/runs/{path}/run.json"
            with exit_on_error():
                require_target(target, self.config, self.experiment.papers)
            self._cells[path] = Cell.from_path(Path(path))
        return self._cells[path]

    def _require_same_run(self, cell: Cell) -> None:
        self._require_same(f"runs/{cell.path}/run.json", configured_cell(self.config, cell))
