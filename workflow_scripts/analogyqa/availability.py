"""Which of the things that the configuration asks for can be had here, and where they are."""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from pathlib import Path

from analogyqa.errors import AnalogyQAError, looked_in
from analogyqa.folders import list_files
from analogyqa.plan import varied_systems
from analogyqa.pretrained import hugging_face, transformer
from analogyqa.rewriting import entities
from analogyqa.schemas import SPLITS
from analogyqa.settings.analogies import Category
from analogyqa.settings.base import nearest_hint
from analogyqa.settings.data import Dataset
from analogyqa.settings.paper import Paper
from analogyqa.settings.run import Config
from analogyqa.settings.vectors import SentenceVectors, Vectors
from analogyqa.sources.registry import Source, UnavailableError, first_available, local_copy
from analogyqa.tasks.analogies import category_key

_REMEDY = "Correct the path in the configuration, or start in another folder."


class Availability:
    """The files behind a configuration.

    Of `papers` the overrides count, at which they ask for systems.

    Attributes:
        splits: data set to split to its file.
        vectors: vectors to their file, or to the texts to train them on, of which all are needed.
        sentence_vectors: sentence vectors to what they are made of: `weights`, `name`, or
            `train_on` and `dev_on`, each with its files.
        entities, lemmas, parser: the models that find named entities and lemmas and that parse
            sentences, None where there is none.
        categories: category of sentence pairs to the files that it is made of, by their kind.
        reasons: why something cannot be run here, by its name: a system, a data set, a category, or
            `system overrides`.

    Raises:
        AnalogyQAError: for a path that is not there, and where no data set can be had.
    """

    def __init__(
        self,
        config: Config,
        registry: dict[str, Source],
        resources: str,
        mirrors: Sequence[str | Path],
        papers: Iterable[Paper] = (),
    ) -> None:
        self._config, self._registry = config, registry
        self._resources, self._mirrors = resources, mirrors
        self.splits: dict[str, dict[str, str]] = {}
        self._no_splits: dict[str, str] = {}
        for name, dataset in config.datasets.items():
            try:
                self.splits[name] = self._of_splits(dataset, self._or_drop_in)
            except UnavailableError as error:
                self._no_splits[name] = f"{name} is {error}"
        if not self.splits:
            for dataset in config.datasets.values():
                self._of_splits(dataset, self.find_file)  # its message says where it looked
        self.vectors: dict[str, list[str]] = {}
        self.sentence_vectors: dict[str, dict[str, list[str]]] = {}
        self.lemmas, self._no_lemmas = self._find_model(config.lemmas, "lemmas", "lemmas")
        self._no_vectors: dict[str, str] = {}
        self._no_sentence_vectors: dict[str, str] = {}
        for name, vectors in config.vectors.items():
            try:
                self.vectors[name] = self._of_vectors(vectors)
            except UnavailableError as error:
                self._no_vectors[name] = f"{name} is {error}"
        for name, stored in config.sentence_vectors.items():
            if stored.vectors in self._no_vectors:
                self._no_sentence_vectors[name] = self._no_vectors[stored.vectors]
                continue
            try:
                self.sentence_vectors[name] = self._of_sentence_vectors(stored)
            except UnavailableError as error:
                self._no_sentence_vectors[name] = f"{name} is {error}"
        entities = config.named_entities
        self.entities, self._no_entities = self._find_model(
            entities, "named_entities", "named entities"
        )
        if entities and not self._no_entities:
            self._no_entities = self._no_vectors.get(entities.vectors, "")
        finds = "the structure of sentences"
        self.parser, self._no_parser = self._find_model(config.parser, "parser", finds)
        self.categories: dict[str, dict[str, list[str]]] = {}
        self._no_categories: dict[str, str] = {}
        for name, category in config.categories.items():
            try:
                self.categories[name] = self._of_category(category)
            except UnavailableError as error:
                self._no_categories[category_key(name)] = f"category {name} is {error}"
            if category.parses and self._no_parser:
                self._no_categories[category_key(name)] = self._no_parser
        self.reasons = self._reasons(config, papers)

    def find_file(self, alternatives: Sequence[str]) -> str:
        """Return the file of the first alternative there is: a path, or a source in resources.

        Raises AnalogyQAError when a path is not there, UnavailableError when no source can be had.
        """
        paths = [name for name in alternatives if "/" in name]
        sources = [name for name in alternatives if name not in paths]
        for path in paths:
            if not Path(path).is_file():
                what = "a folder; name a file" if Path(path).is_dir() else "no such file"
                raise AnalogyQAError(f"{path}: {what}{looked_in(path)}. {_REMEDY}")
        for name in sources:
            if name not in self._registry:
                what = f"write ./{name} for the file" if Path(name).is_file() else "no such file"
                hint = nearest_hint(name, self._registry)
                raise AnalogyQAError(f"{name}: {what}, and no source in the registry{hint}")
        if alternatives[0] in paths:
            return alternatives[0]
        try:
            source = first_available(sources, self._registry, self._resources, self._mirrors)
        except UnavailableError:
            if paths:
                return paths[0]
            raise
        return f"{self._resources}/{self._registry[source].file}"

    def first_available_store(self, names: Sequence[str]) -> str:
        """Return the first sentence vectors whose files are here, else the first that can be had.

        Their order is the same as that of the alternatives of a source.
        """
        had = [name for name in names if name in self.sentence_vectors]
        return next(filter(self._is_here, had), had[0])

    def _is_here(self, name: str) -> bool:
        vectors = self._config.sentence_vectors[name].vectors
        files = [*chain.from_iterable(self.sentence_vectors[name].values())]
        files += self.vectors[vectors] if vectors else []
        sources = {f"{self._resources}/{source.file}": source for source in self._registry.values()}
        return all(
            local_copy(sources[file], self._resources, self._mirrors)
            for file in files
            if file in sources
        )

    def _of_splits(
        self, dataset: Dataset, find_file: Callable[[Sequence[str]], str]
    ) -> dict[str, str]:
        if dataset.gives_relations:
            if dataset.test and not dataset.relations:
                raise AnalogyQAError(
                    f"{dataset.test[0]}: no folder with files of relations"
                    f"{looked_in(dataset.test[0])}. {_REMEDY}"
                )
            return {}
        return {split: find_file(getattr(dataset, split)) for split in SPLITS}

    def _of_category(self, category: Category) -> dict[str, list[str]]:
        """Return the files of a category; of inference files and texts all are needed."""
        words = [category.words[0]] if category.words else []
        kinds = {"words": words, "texts": category.texts, "inference": category.inference}
        return {
            kind: [self._or_drop_in(each) for each in alternatives]
            for kind, alternatives in kinds.items()
            if alternatives
        }

    def _of_vectors(self, vectors: Vectors) -> list[str]:
        if vectors.source:
            return [self._or_drop_in(vectors.source)]
        if vectors.corpora:
            return self._of_corpora(vectors)
        return [self._or_drop_in([text]) for text in vectors.train_on]

    def _of_corpora(self, vectors: Vectors) -> list[str]:
        """Return the files that the texts of data sets come from, each once."""
        missing = [self._no_splits[name] for name in vectors.corpora if name in self._no_splits]
        if vectors.lemmas and self._no_lemmas:
            missing.append(self._no_lemmas)
        if missing:
            raise UnavailableError(f"trained on what is not here: {'; '.join(missing)}")
        files = (self.splits[name][each] for name, own in vectors.corpora.items() for each in own)
        return list(dict.fromkeys(files))

    def _of_sentence_vectors(self, stored: SentenceVectors) -> dict[str, list[str]]:
        if stored.train_on:
            return {
                "train_on": [self._or_drop_in(each) for each in stored.train_on],
                "dev_on": [self._or_drop_in(each) for each in stored.dev_on],
            }
        if stored.encoder == "sentence_transformers":
            return self._of_model(stored.weights)
        if stored.encoder == "hugging_face":
            return self._of_folder(stored.weights)
        return {"weights": [self._or_drop_in(stored.weights)]} if stored.weights else {}

    def _of_model(self, names: Sequence[str]) -> dict[str, list[str]]:
        """Return the first model that is installed, else the first that sources.yaml has."""
        for name in names:
            if transformer.installed(name):
                return {"name": [name], "files": list_files(name)}
        for name in names:
            files = [
                source.file for key, source in self._registry.items() if key.startswith(f"{name}/")
            ]
            if files:
                # A model's own list of its parts lies in its folder.
                (parts,) = (file for file in files if Path(file).name == "modules.json")
                folder = str(Path(self._resources, parts).parent)
                return {"name": [folder], "files": [f"{self._resources}/{file}" for file in files]}
        raise UnavailableError(f"not installed here: {' or '.join(names)}")

    def _of_folder(self, names: Sequence[str]) -> dict[str, list[str]]:
        """Return the first model of Hugging Face's transformers that is on this machine."""
        for name in names:
            if hugging_face.installed(name):
                return {"name": [name], "files": list_files(name)}
        raise UnavailableError(f"not installed here: {' or '.join(names)}")

    def _or_drop_in(self, alternatives: Sequence[str]) -> str:
        """As `find_file`; the message, which tables show, names no place of this machine."""
        try:
            return self.find_file(alternatives)
        except UnavailableError:
            files = " or ".join(self._registry[name].file for name in alternatives)
            raise UnavailableError(f"neither here nor on the web; drop in {files}") from None

    def _find_model(self, section: object, name: str, finds: str) -> tuple[str | None, str]:
        """Return the model of a section of the configuration, or None and why there is none."""
        if section is None:
            return None, f"the section {name} is missing"
        folders = [self._resources, *self._mirrors]
        try:
            return find_model(section.model, folders, f"{finds} ({name}.model)"), ""
        except AnalogyQAError as error:
            return None, str(error)

    def _reasons(self, config: Config, papers: Iterable[Paper]) -> dict[str, str]:
        reasons = self._no_splits | self._no_categories | config.left_out
        for name, system in (config.systems | varied_systems(config, papers)).items():
            stores = system.sentence_vectors or []
            if name.partition(" ")[0] in reasons:  # which is one at all overrides
                continue
            if system.vectors in self._no_vectors:
                reasons[name] = self._no_vectors[system.vectors]
            elif stores and not set(stores) & set(self.sentence_vectors):
                reasons[name] = "; ".join(self._no_sentence_vectors[each] for each in stores)
            elif system.rewriting and self._no_entities:
                reasons[name] = self._no_entities
        for name, system in config.systems.items():
            missing = [reasons[part] for part in system.parts if part in reasons]
            reasons |= {name: missing[0]} if missing else {}
        return reasons


def find_model(alternatives: Iterable[str], folders: Iterable[str | Path], finds: str) -> str:
    """Return the first spaCy model there is: as it is named, or below a folder.

    Raises AnalogyQAError that names the alternatives, and what they find, when none is there.
    """
    folders = list(folders)
    for name in alternatives:
        for place in (name, *(str(Path(folder, name)) for folder in folders)):
            if entities.installed(place):
                return place
    raise AnalogyQAError(
        f"none of the models {', '.join(alternatives)} is here to find {finds}: "
        "python -m spacy download en_core_web_sm"
    )
