"""The files of sources, word vectors and sentence vectors that jobs read, and their origins."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Protocol

from analogyqa.cells import split_corpus
from analogyqa.cells.configured import (
    Configured,
    configured_sentences,
    configured_vectors,
    require_same,
)
from analogyqa.errors import exit_on_error
from analogyqa.experiments.experiment import Experiment
from analogyqa.folders import list_files
from analogyqa.settings.base import AT
from analogyqa.settings.systems import System
from analogyqa.settings.vectors import SEED

Files = dict[str, Any]  # a file or a list of files, by name


class Wildcards(Protocol):
    """The wildcards of a job, as attributes; their names depend on the rule."""

    def __getattr__(self, name: str) -> str: ...


class VectorInputs:
    """The input functions of the rules that make vectors.

    Args:
        experiment: The experiment that is run.
        makes_again: Returns whether Snakemake itself would make a file again whose record differs
            from a configuration.
    """

    def __init__(
        self,
        experiment: Experiment,
        makes_again: Callable[[str, Configured], bool] = lambda file, configured: True,
    ) -> None:
        self.experiment, self.config = experiment, experiment.config
        self.available, self.results = experiment.available, self.config.output_dir
        self._makes_again = makes_again

    # Sources

    def sources(self, files: Iterable[str]) -> list[str]:
        """Return the records of those files that are sources; making a record verifies its file."""
        known = {f"{self.config.resources_dir}/{file}" for file in self.experiment.source_of_file}
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

    # Vectors

    def train_vectors(self, wildcards: Wildcards) -> Files:
        """Return the corpora or the texts on which fastText or word2vec is trained."""
        vectors = self.config.vectors_at(wildcards.vectors)
        if vectors.corpora:
            table = "lemmas/{}/words.parquet" if vectors.lemmas else "corpora/{}.parquet"
            return {"corpora": [f"{self.results}/{table.format(name)}" for name in vectors.corpora]}
        texts = self.available.vectors[wildcards.vectors.partition(AT)[0]]
        return {"texts": texts, "sources": self.sources(texts)}

    def select_vectors(self, wildcards: Wildcards) -> Files:
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
        excluded = self.config.sentence_vectors[name].disjoint_from
        return {
            "train": files["train_on"],
            "dev": files["dev_on"],
            "disjoint_from": [f"{self.results}/corpora/{excluded}.parquet"] if excluded else [],
            "sources": self.sources([*files["train_on"], *files["dev_on"]]),
            **self._vectors_of(name),
        }

    def _vectors_of(self, name: str) -> dict[str, str]:
        """Return the file of the word vectors that a pre-trained encoder reads, if any."""
        vectors = self.config.sentence_vectors[name].vectors
        return {"vectors": self.vectors_file(vectors)} if vectors else {}

    def encode_sentences(self, wildcards: Wildcards) -> Files:
        name = wildcards.sentence_vectors
        record = f"sentence_vectors/{wildcards.corpus}/{name}.json"
        self._require_same(record, configured_sentences(self.config, name))
        section, files = self.config.sentence_vectors[name], self.available.sentence_vectors[name]
        read = self._vectors_of(name)
        if section.train_on:
            read["weights"] = f"{self.results}/sentence_vectors/trained/{name}.pt"
        elif "weights" in files:
            read["weights"] = files["weights"][0]
        model_files = files.get("files", [])
        return read | {
            "corpus": f"{self.results}/corpora/{wildcards.corpus}.parquet",
            "files": model_files,
            "sources": self.sources([*read.values(), *model_files]),
        }

    def vector_files(
        self, system: System, corpus: str, seeds: Iterable[int] | None = None
    ) -> Files:
        """Return the vectors that a system reads for a corpus.

        With `seeds`, word vectors that depend on the seed are a list.
        """
        files: Files = {}
        if system.vectors:
            dataset, _ = split_corpus(corpus)
            stem = f"{self.results}/vectors/{dataset}/{system.word_vectors}"
            files["vectors"] = f"{stem}.npy"
            if seeds is not None and self.config.vectors[system.vectors].is_word2vec:
                files["vectors"] = [f"{stem}{AT}{SEED}={seed}.npy" for seed in seeds]
            if system.weighting != "uniform" and system.vectors in self.available.frequencies:
                frequencies = self.available.frequencies[system.vectors]
                files |= {"frequencies": frequencies, "sources": self.sources([frequencies])}
        if system.sentence_vectors:
            stored = self.available.first_available_store(system.sentence_vectors)
            files["sentence_vectors"] = f"{self.results}/sentence_vectors/{corpus}/{stored}.npy"
        return files

    # Origins, for tables and records

    def origin_of_files(self, files: Iterable[str]) -> str:
        """Return the names of files that are sources, and the paths of other files."""
        prefix, sources = f"{self.config.resources_dir}/", self.experiment.source_of_file
        return ", ".join(sources.get(file.removeprefix(prefix), file) for file in files)

    def origin_of_vectors(self, name: str) -> str:
        """Return where word vectors come from, or what they are trained on."""
        vectors = self.config.vectors_at(name)
        origin = self.origin_of_files(self.available.vectors[name.partition(AT)[0]])
        if vectors.is_word2vec:
            has_lemmas = vectors.lemmas and vectors.corpora
            lemmas = f", lemmas by {Path(self.available.lemmas).name}" if has_lemmas else ""
            return f"word2vec trained here on {origin}{lemmas}"
        return f"fastText trained here on {origin}" if vectors.train_on else origin

    def origin_of_sentence_vectors(self, name: str) -> str:
        """Return the encoder of sentence vectors, its weights, and the word vectors it reads."""
        section, files = self.config.sentence_vectors[name], self.available.sentence_vectors[name]
        weights = self.origin_of_files(files.get("weights", files.get("name", [])))
        parts = [f"{section.encoder} {weights}".strip()]
        if section.train_on:
            trained_on = self.origin_of_files(files["train_on"])
            parts.append(f"trained here on {trained_on} ({section.lstm_dim} per direction)")
        if section.vectors:
            parts.append(f"vectors {self.origin_of_vectors(section.vectors)}")
        return ", ".join(parts)

    def _require_same(self, record: str, configured: Configured) -> None:
        """Stop if a result was made with other settings and Snakemake would keep it."""
        file = f"{self.results}/{record}"
        if Path(file).exists() and not self._makes_again(file, configured):
            with exit_on_error():
                require_same(file, configured)
