"""Where data, vectors and models come from, for tables and records."""

from collections.abc import Iterable
from pathlib import Path

from analogyqa.experiments.experiment import Experiment
from analogyqa.settings.base import AT


class Origins:
    """Names the origins of the files of an experiment."""

    def __init__(self, experiment: Experiment) -> None:
        self.config, self.available = experiment.config, experiment.available
        self._resources, self._sources = experiment.resources, experiment.source_of_file

    def names(self, files: Iterable[str]) -> str:
        """Return the names of files that are sources, and the paths of other files."""
        prefix = f"{self._resources}/"
        return ", ".join(self._sources.get(file.removeprefix(prefix), file) for file in files)

    def vectors(self, name: str) -> str:
        vectors = self.config.vectors_at(name)
        origin = self.names(self.available.vectors[name.partition(AT)[0]])
        if vectors.is_word2vec:
            found = vectors.lemmas and vectors.corpora
            lemmas = f", lemmas by {Path(self.available.lemmas).name}" if found else ""
            return f"word2vec trained here on {origin}{lemmas}"
        return f"fastText trained here on {origin}" if vectors.train_on else origin

    def sentence_vectors(self, name: str) -> str:
        stored, files = self.config.sentence_vectors[name], self.available.sentence_vectors[name]
        weights = self.names(files.get("weights", files.get("name", [])))
        parts = [f"{stored.encoder} {weights}".strip()]
        if stored.train_on:
            trained_on = self.names(files["train_on"])
            parts.append(f"trained here on {trained_on} ({stored.lstm_dim} per direction)")
        if stored.vectors:
            parts.append(f"vectors {self.vectors(stored.vectors)}")
        return ", ".join(parts)
