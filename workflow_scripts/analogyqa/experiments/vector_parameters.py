"""The parameters of the jobs that make corpora and vectors, and the hash of a job's code."""

from pathlib import Path
from typing import Any

from analogyqa.cells import split_corpus
from analogyqa.cells.configured import configured_sentences, configured_vectors
from analogyqa.corpora.specs import READERS
from analogyqa.experiments.inputs import Inputs
from analogyqa.experiments.vector_inputs import Wildcards
from analogyqa.pretrained.specs import PRETRAINED
from analogyqa.runs.depends_on import code_hash
from analogyqa.settings.data import Parser
from analogyqa.settings.vectors import Lemmas, NamedEntities

Values = dict[str, Any]  # JSON values by name

_SCRIPTS = Path(__file__).parents[2]


class VectorParameters:
    """The parameter functions of the rules that make corpora and vectors.

    Args:
        inputs: The input functions of the same experiment.
    """

    def __init__(self, inputs: Inputs) -> None:
        self.inputs, self.experiment = inputs, inputs.experiment
        self.config, self.available = inputs.config, inputs.available

    def source(self, wildcards: Wildcards) -> str:
        return self.experiment.source_of_file[wildcards.file]

    # Corpora

    def build_corpus(self, wildcards: Wildcards) -> Values:
        dataset = self.config.dataset_at(*split_corpus(wildcards.corpus))
        keys = {"reader", "parts", "questions", "drop_all_correct", "train_share", "fold"}
        configured = self.inputs.corpus_configured(wildcards)
        return {
            "code": script_hash("build_corpus", READERS[dataset.reader].definition),
            **dataset.model_dump(include=keys),
            "options": dataset.reader_options,
            "question_types": configured["question_types"],
            "configured": configured,
        }

    def find_entities(self, wildcards: Wildcards) -> Values:
        section = self.experiment.named_entities
        return {
            "code": script_hash("find_entities"),
            "model": self.model_names(section),
            "labels": section.labels,
        }

    def model_names(self, section: NamedEntities | Lemmas | Parser | None) -> list[str]:
        """Return the names of a spaCy model and of its files, for `job.find_spacy_model`.

        They have no path, so moving the model to another mirror does not rerun the job.
        """
        names, known = section.model if section else [], self.experiment.registry
        return [*names, *(known[name].file for name in names if name in known)]

    def rewrite_questions(self, wildcards: Wildcards) -> Values:
        types = self.inputs.corpus_configured(wildcards)["question_types"]
        return {
            "code": script_hash("rewrite_questions"),
            "lowercase": self.lowercase_of_vectors(self.experiment.named_entities.vectors),
            "fold": self.config.dataset_at(*split_corpus(wildcards.corpus)).fold,
            "question_words": [word for words in types.values() for word in words],
        }

    def lemmatise_corpus(self, wildcards: Wildcards) -> Values:
        section = self.config.lemmas
        return {
            "code": script_hash("lemmatise_corpus"),
            "model": self.model_names(section),
            "keep": section and section.keep,
        }

    # Vectors

    def lowercase_of_vectors(self, name: str) -> bool:
        return self.config.is_lowercase(self.config.vectors_at(name))

    def train_vectors(self, wildcards: Wildcards) -> Values:
        vectors = self.config.vectors[wildcards.vectors]
        return {
            "code": script_hash("train_vectors"),
            "lowercase": self.lowercase_of_vectors(wildcards.vectors),
            **vectors.model_dump(include={"dim", "epochs", "min_count"}),
        }

    def train_word2vec(self, wildcards: Wildcards) -> Values:
        vectors = self.config.vectors_at(wildcards.vectors)
        return {
            "code": script_hash("train_vectors"),
            "splits": list((vectors.corpora or {}).values()),
            "lowercase": self.lowercase_of_vectors(wildcards.vectors),
            **vectors.model_dump(include={"dim", "window", "epochs", "min_count", "model", "seed"}),
        }

    def select_vectors(self, wildcards: Wildcards) -> Values:
        return {
            "code": script_hash("select_vectors"),
            "origin": self.inputs.origin_of_vectors(wildcards.vectors),
            "out_of_vocabulary": self.config.vectors_at(wildcards.vectors).out_of_vocabulary,
            "lowercase": self.lowercase_of_vectors(wildcards.vectors),
            "configured": configured_vectors(self.config, wildcards.vectors),
        }

    def train_infersent(self, wildcards: Wildcards) -> Values:
        section = self.config.sentence_vectors[wildcards.sentence_vectors]
        return {
            "code": script_hash("train_infersent"),
            "seed": self.config.seeds[0],
            "lstm_dim": section.lstm_dim,
            "lowercase": self.config.is_lowercase(section),
        }

    def encode_sentences(self, wildcards: Wildcards) -> Values:
        name = wildcards.sentence_vectors
        section = self.config.sentence_vectors[name]
        return {
            "code": script_hash("encode_sentences", PRETRAINED[section.encoder].definition),
            "encoder": section.encoder,
            "options": section.options,
            "typed_only": self._typed_only(wildcards),
            # The name of an installed model, which has no file of weights.
            "name": self.available.sentence_vectors[name].get("name", [None])[0],
            "origin": self.inputs.origin_of_sentence_vectors(name),
            "lowercase": self.config.is_lowercase(section),
            "configured": configured_sentences(self.config, name),
        }

    def _typed_only(self, wildcards: Wildcards) -> bool:
        """Return whether all cells with these sentence vectors rank only questions with a type."""
        dataset, _ = split_corpus(wildcards.corpus)
        systems = [
            self.config.system_at(cell.system, cell.overrides)
            for cell in self.experiment.cells_with_sensitivity
            if cell.dataset == dataset and self.config.types_of(cell.subset) is None
        ]
        return all(wildcards.sentence_vectors not in (at.sentence_vectors or ()) for at in systems)


def script_hash(script: str, *modules: str) -> str:
    """Return the hash of the library code that a script runs; `modules` are loaded by name."""
    return code_hash(_SCRIPTS / f"{script}.py", *modules)
