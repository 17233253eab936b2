"""The files that each job reads. A method has the name of its rule."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Protocol

from analogyqa.analogies.specs import SOLVERS
from analogyqa.errors import exit_on_error
from analogyqa.experiments.experiment import Experiment
from analogyqa.folders import list_files
from analogyqa.plan import (
    Cell,
    fused_parts,
    holding_cell,
    selection_cells,
    split_corpus,
    training_cell,
    waits_for,
    without_fold,
)
from analogyqa.plan.configured import (
    Configured,
    configured_cell,
    configured_corpus,
    configured_sentences,
    configured_vectors,
    require_same,
)
from analogyqa.plan.targets import require_target
from analogyqa.settings.data import ALL, relation_files
from analogyqa.settings.overrides import HYPERPARAMETERS, TUNED
from analogyqa.settings.systems import System
from analogyqa.tasks.analogies import category_key

Files = dict[str, Any]  # a file or a list of files, by name


class Wildcards(Protocol):
    """The wildcards of a job, as attributes; their names depend on the rule."""

    def __getattr__(self, name: str) -> str: ...


class Inputs:
    """The input functions of the rules.

    Args:
        experiment: The experiment that is run.
        notices: Returns whether Snakemake would notice that a file was made with other settings.
    """

    def __init__(
        self, experiment: Experiment, notices: Callable[[str], bool] = lambda file: True
    ) -> None:
        self.experiment, self.config = experiment, experiment.config
        self.available, self.results = experiment.available, experiment.results
        self._notices = notices
        self._cells: dict[str, Cell] = {}

    # Sources

    def sources(self, files: Iterable[str]) -> list[str]:
        """Return the records of those files that are sources; making a record verifies its file."""
        known = {f"{self.experiment.resources}/{file}" for file in self.experiment.source_of_file}
        return [f"{file}.source.json" for file in files if file in known]

    def model(self, model: str) -> list[str]:
        """Return the files of a spaCy model.

        Return none for an installed package, and none on a mirror, which may change or vanish.
        """
        if sources := self.sources([model]):
            return [model, *sources]
        mirrors = self.experiment.mirrors
        if not model or any(Path(model).is_relative_to(mirror) for mirror in mirrors):
            return []
        return list_files(model)

    # Corpora

    def build_corpus(self, wildcards: Wildcards) -> Files:
        """Return the files of the splits of a corpus."""
        self._require_same(f"corpora/{wildcards.corpus}.json", self.corpus_configured(wildcards))
        files = self.available.splits[split_corpus(wildcards.corpus)[0]]
        return files | {"sources": self.sources(files.values())}

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

    # Vectors

    def train_vectors(self, wildcards: Wildcards) -> Files:
        texts = self.available.vectors[wildcards.vectors]
        return {"texts": texts, "sources": self.sources(texts)}

    def train_word2vec(self, wildcards: Wildcards) -> Files:
        vectors = self.config.vectors_at(wildcards.vectors)
        table = "lemmas/{}/words.parquet" if vectors.lemmas else "corpora/{}.parquet"
        return {
            "corpora": [f"{self.results}/{table.format(name)}" for name in vectors.corpora or ()]
        }

    def select_vectors(self, wildcards: Wildcards) -> Files:
        """Return the table whose words are selected, and the file in which they are looked up."""
        record = f"vectors/{wildcards.dataset}/{wildcards.vectors}.json"
        self._require_same(record, configured_vectors(self.config, wildcards.vectors))
        lemmas = self.config.vectors_at(wildcards.vectors).lemmas
        table = "lemmas/{}/content.parquet" if lemmas else "corpora/{}.parquet"
        corpus = f"{self.results}/{table.format(wildcards.dataset)}"
        file = self.vectors_file(wildcards.vectors)
        return {"corpus": corpus, "vectors": file, "sources": self.sources([file])}

    def vectors_file(self, name: str) -> str:
        """Return the file in which words are looked up."""
        if self.config.vectors_at(name).source:
            return self.available.vectors[name][0]
        return f"{self.results}/vectors/trained/{name}.bin"

    def train_infersent(self, wildcards: Wildcards) -> Files:
        name = wildcards.sentence_vectors
        files = self.available.sentence_vectors[name]
        return {
            "train": files["train_on"],
            "dev": files["dev_on"],
            "sources": self.sources([*files["train_on"], *files["dev_on"]]),
            **self._vectors_of(name),
        }

    def _vectors_of(self, name: str) -> dict[str, str]:
        """Return the file of the word vectors that a pre-trained encoder reads, if any."""
        vectors = self.config.sentence_vectors[name].vectors
        return {"vectors": self.vectors_file(vectors)} if vectors else {}

    def encode_sentences(self, wildcards: Wildcards) -> Files:
        """Return the sentences, and the files that the encoder reads."""
        name = wildcards.sentence_vectors
        record = f"sentence_vectors/{wildcards.corpus}/{name}.json"
        self._require_same(record, configured_sentences(self.config, name))
        stored, files = self.config.sentence_vectors[name], self.available.sentence_vectors[name]
        read = self._vectors_of(name)
        if stored.train_on:
            read["weights"] = f"{self.results}/sentence_vectors/trained/{name}.pt"
        elif "weights" in files:
            read["weights"] = files["weights"][0]
        model_files = files.get("files", [])
        return read | {
            "corpus": f"{self.results}/corpora/{wildcards.corpus}.parquet",
            "files": model_files,
            "sources": self.sources([*read.values(), *model_files]),
        }

    def vector_files(self, system: System, corpus: str) -> Files:
        """Return the word vectors or sentence vectors that a system reads for a corpus."""
        files: Files = {}
        if system.vectors:
            dataset, _ = split_corpus(corpus)
            files["vectors"] = f"{self.results}/vectors/{dataset}/{system.word_vectors}.npy"
        if system.sentence_vectors:
            stored = self.available.first_available_store(system.sentence_vectors)
            files["sentence_vectors"] = f"{self.results}/sentence_vectors/{corpus}/{stored}.npy"
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
        files |= self.vector_files(system, cell.corpus)
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
        if first := waits_for(self.config, cell):
            # Without this, two jobs could make the same training run at once.
            files["start"] = f"{self.results}/runs/{first.path}/run.json"
        if (HYPERPARAMETERS, TUNED) in cell.overrides:
            files["selection"] = f"{self.results}/selection/{cell.system}/{cell.dataset}.json"
        return files

    def run_cell(self, wildcards: Wildcards) -> Files:
        """Return the tables of a cell that is trained or scored."""
        self._require_same_run(self.job_cell(wildcards))
        return self.tables_of_cell(wildcards)

    def read_cell(self, wildcards: Wildcards) -> Files:
        """Return the tables and the record of a cell whose trained encoder is read."""
        cell, tables = self.job_cell(wildcards), self.tables_of_cell(wildcards)
        return tables | {"record": f"{self.results}/runs/{cell.path}/run.json"}

    def choose_hyperparameters(self, wildcards: Wildcards) -> Files:
        cells = selection_cells(self.config, wildcards.system, wildcards.dataset)
        return {
            name: f"{self.results}/runs/{cell.path}/history.parquet" for name, cell in cells.items()
        }

    def fuse_scores(self, wildcards: Wildcards) -> Files:
        """Return the corpus of a cell, and the scores and records of its parts."""
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
        return self.relations(wildcards.corpus)

    def relations(self, dataset: str) -> dict[str, str]:
        """Return the files of a data set's categories, by name, without those that are left out."""
        section = self.config.datasets[dataset]
        if section.test:
            return {path.stem: str(path) for path in relation_files(Path(section.test[0]))}
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
        """Return the cells of a solving job, by solver."""
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
        paths = dict.fromkeys(holding_cell(self.config, cell).path for cell in cells)
        return [f"{self.results}/runs/{path}/{file}" for path in paths]

    def _cell_at(self, path: str) -> Cell:
        if path not in self._cells:
            target = f"{self.results}/runs/{path}/run.json"
            with exit_on_error():
                require_target(target, self.config, self.experiment.papers)
            self._cells[path] = Cell.from_path(Path(path))
        return self._cells[path]

    def _require_same_run(self, cell: Cell) -> None:
        self._require_same(f"runs/{cell.path}/run.json", configured_cell(self.config, cell))

    def _require_same(self, record: str, configured: Configured) -> None:
        """Stop if a result was made with other settings and Snakemake would not notice."""
        file = f"{self.results}/{record}"
        if Path(file).exists() and not self._notices(file):
            with exit_on_error():
                require_same(file, configured)
