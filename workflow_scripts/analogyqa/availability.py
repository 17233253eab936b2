"""Which of the things that the configuration asks for can be had here, and where they are."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from analogyqa import entities
from analogyqa.config import Config, Dataset, SentenceVectors, Vectors, join_id
from analogyqa.errors import AnalogyQAError
from analogyqa.pretrained import transformer
from analogyqa.schemas import SPLITS
from analogyqa.sources import Source, UnavailableError, first_available


class Availability:
    """The files behind a configuration.

    Attributes:
        splits: data set to split to its file.
        vectors: vectors to their file, or to the texts to train them on, of which all are needed.
        sentence_vectors: sentence vectors to what they are made of: `weights`, `name`, or
            `train_on` and `dev_on`, each with its files.
        entities: the model that finds named entities, None where there is none.
        reasons: models that cannot be run here, and models at a variation, to why.

    Raises:
        AnalogyQAError: for a path that is not there, and where a split cannot be had.
    """

    def __init__(
        self,
        config: Config,
        registry: dict[str, Source],
        resources: str,
        mirrors: Sequence[str | Path],
    ) -> None:
        self._registry, self._resources, self._mirrors = registry, resources, mirrors
        self.splits = {name: self._of_splits(dataset) for name, dataset in config.datasets.items()}
        self.vectors: dict[str, list[str]] = {}
        self.sentence_vectors: dict[str, dict[str, list[str]]] = {}
        self.entities: str | None = None
        self._missing: dict[str, str] = {}
        for name, vectors in config.vectors.items():
            self._try(name, self.vectors, self._of_vectors, vectors)
        for name, stored in config.sentence_vectors.items():
            if stored.vectors in self._missing:
                self._missing[name] = self._missing[stored.vectors]
            else:
                self._try(name, self.sentence_vectors, self._of_sentence_vectors, stored)
        self._no_entities = self._find_entities(config)
        self.reasons = self._reasons(config)

    def file_of(self, alternatives: Sequence[str]) -> str:
        """Return the file of the first alternative there is: a path, or a source in resources.

        Raises AnalogyQAError when a path is not there, UnavailableError when no source can be had.
        """
        paths = [name for name in alternatives if "/" in name]
        sources = [name for name in alternatives if name not in paths]
        for path in paths:
            if not Path(path).exists():
                raise AnalogyQAError(
                    f"{path}: no such file. Correct the path in the configuration."
                )
        if alternatives[0] in paths:
            return alternatives[0]
        try:
            source = first_available(sources, self._registry, self._resources, self._mirrors)
        except UnavailableError:
            if paths:
                return paths[0]
            raise
        return f"{self._resources}/{self._registry[source].file}"

    def _of_splits(self, dataset: Dataset) -> dict[str, str]:
        return {split: self.file_of(getattr(dataset, split)) for split in SPLITS}

    def _of_vectors(self, vectors: Vectors) -> list[str]:
        if vectors.source:
            return [self.file_of(vectors.source)]
        return [self.file_of([text]) for text in vectors.train_on]

    def _of_sentence_vectors(self, stored: SentenceVectors) -> dict[str, list[str]]:
        if stored.train_on:
            return {
                "train_on": [self.file_of(each) for each in stored.train_on],
                "dev_on": [self.file_of(each) for each in stored.dev_on],
            }
        if stored.encoder == "sentence_transformers":
            names = [name for name in stored.weights if transformer.installed(name)]
            if not names:
                raise UnavailableError(f"no model {' or '.join(stored.weights)} is installed here")
            return {"name": names[:1]}
        return {"weights": [self.file_of(stored.weights)]} if stored.weights else {}

    def _try(self, name: str, found: dict, files_of, section: Vectors | SentenceVectors) -> None:
        try:
            found[name] = files_of(section)
        except UnavailableError as error:
            files = [self._registry[each].file for each in _sources(section) if "/" not in each]
            self._missing[name] = (
                f"{name} is neither here nor on the web; drop in {' or '.join(files)}"
                if files
                else str(error)
            )

    def _find_entities(self, config: Config) -> str:
        if config.named_entities is None:
            return "the section named_entities is missing"
        try:
            self.entities = find_model(
                config.named_entities.model, [self._resources, *self._mirrors]
            )
        except AnalogyQAError as error:
            return str(error)
        return self._missing.get(config.named_entities.vectors, "")

    def _reasons(self, config: Config) -> dict[str, str]:
        varied = {
            join_id(name, variation): config.model_of(join_id(name, variation))
            for name in config.sensitivity.models
            for variation in config.sensitivity.variations()
        }
        reasons = {}
        for model_id, model in (config.models | varied).items():
            stores = model.sentence_vectors or []
            if model.vectors in self._missing:
                reasons[model_id] = self._missing[model.vectors]
            elif stores and not set(stores) & set(self.sentence_vectors):
                reasons[model_id] = "; ".join(self._missing[name] for name in stores)
            elif model.rewriting and self._no_entities:
                reasons[model_id] = self._no_entities
        return reasons


def find_model(alternatives: Iterable[str], folders: Iterable[str | Path]) -> str:
    """Return the first model of named entities there is: as it is named, or below a folder.

    Raises AnalogyQAError that names the alternatives when none is there.
    """
    folders = list(folders)
    for name in alternatives:
        for place in (name, *(str(Path(folder, name)) for folder in folders)):
            if entities.installed(place):
                return place
    raise AnalogyQAError(
        f"none of the models {', '.join(alternatives)} is here to find named entities "
        "(named_entities.model): python -m spacy download en_core_web_sm"
    )


def _sources(section: Vectors | SentenceVectors) -> list[str]:
    if isinstance(section, Vectors):
        return section.source or section.train_on
    if section.encoder == "sentence_transformers":
        return []
    return section.weights or [one for each in section.train_on for one in each]
