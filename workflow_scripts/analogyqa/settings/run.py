"""The whole configuration of a run: its own keys, and the sections of its papers."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import AfterValidator, Field, ValidationError, model_validator

from analogyqa.arithmetic import PORTABLE
from analogyqa.errors import AnalogyQAError
from analogyqa.measures import RANKED
from analogyqa.settings import overrides as ov
from analogyqa.settings.base import (
    NULL_REMOVES,
    Folder,
    Name,
    OneOrMore,
    Section,
    checked_by,
    first_message,
    override_paths,
    require_known,
)
from analogyqa.settings.data import ALL, FOLD, OTHER, TRAINED_ON, Category, Dataset, Parser
from analogyqa.settings.overrides import HYPERPARAMETERS, TUNED, Overrides
from analogyqa.settings.seeds import CROSS_VALIDATION, KEYS, VARIATIONS, Seeds, split_seeds
from analogyqa.settings.studies import PAPER, Bootstrap, Selection, Studies
from analogyqa.settings.systems import System, Training
from analogyqa.settings.tracking import TrackingUri, sqlite_uri
from analogyqa.settings.vectors import Lemmas, NamedEntities, SentenceVectors, Vectors
from analogyqa.text import nfc

T = TypeVar("T")
SHARED = "shared"  # marks definitions, which papers configure and may share
Shared = Annotated[T, SHARED]


class Config(Section):
    """The keys of config.yaml, followed by the sections that papers configure."""

    output_dir: Folder
    """The folder of the results."""
    resources_dir: Folder = "resources"
    """The folder of downloads, and of files that you put there yourself."""
    mirrors: list[str] = []
    """Folders like `resources_dir`, searched before a download and after that in the variable
    ANALOGYQA_MIRROR."""
    tracking_uri: TrackingUri | None = None
    """The address of an MLflow server, or of a store; null for a file in `output_dir`."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Where training runs; `auto` takes a GPU if there is one that works."""
    arithmetic: Literal["native", "portable"] = "native"
    """`portable` gives the same bytes on every x86-64 processor with AVX2, and uses no GPU.
    `native` is faster."""
    seeds: Seeds
    """The seeds of every cell: a number n for 0 to n - 1, or a list; or a mapping of these by
    overrides, such as `precision=bfloat16`, by subset, and by `cross_validation`, `variations` (of
    the training section) and `default`."""
    seeds_of: dict[str, Seeds] = {}
    """The entries of such a mapping other than `default`; not written by users."""
    papers: list[Name]
    """The folders in papers/ whose tables, figures and claims are made. With none, your own data
    sets are shown, with the systems of all papers."""
    comparable: bool = True
    """Whether the published values are about these data. Without it, they are not shown. A data set
    has this key, too."""
    bootstrap: Bootstrap = Bootstrap()
    """The bootstrap behind the intervals for other questions."""
    sweeps: Annotated[
        dict[str, Annotated[list, Field(min_length=1)]],
        NULL_REMOVES,
        checked_by(ov.require_points),
    ] = {}
    """The points of an override that figures show instead of the papers' points."""
    left_out: Annotated[dict[str, str], NULL_REMOVES] = {}
    """Why a data set or a system is left out; a system also on one data set alone
    (`similarity trecqa`), with overrides (`similarity p=10`), or both."""
    only: Annotated[list[Name], OneOrMore] = []
    """The systems that are run, if not all of them; `left_out` is its counterpart."""

    lowercase: bool = True
    """Whether words are lower-cased; vectors may have a value of their own."""
    datasets: Shared[dict[Name, Dataset]] = Field(min_length=1)
    """The data sets."""
    question_types: Shared[dict[Name, list[Annotated[str, AfterValidator(nfc)]]]] = {}
    """The first words of the questions of each type."""
    subsets: Shared[dict[Name, Annotated[list[Name], Field(min_length=1)]]] = {}
    """The question types of each subset. The subset `all` always exists."""
    vectors: Shared[dict[Name, Vectors]] = {}
    """The word vectors."""
    sentence_vectors: Shared[dict[Name, SentenceVectors]] = {}
    """The pre-trained sentence encoders."""
    named_entities: Shared[NamedEntities | None] = None
    """The model of names, places and dates, for `rewriting`."""
    lemmas: Shared[Lemmas | None] = None
    """The model of lemmas."""
    parser: Shared[Parser | None] = None
    """The parser of sentences, for `categories`."""
    categories: Shared[dict[Name, Category]] = {}
    """The categories of sentence pairs that are made here."""
    systems: Shared[dict[Name, System]] = Field(min_length=1)
    """The systems that are compared."""
    substitutes: Shared[dict[Name, str]] = {}
    """The paper's file that a file in a record replaces, by the name of the latter."""
    studies: dict[Name, Studies] = {}
    """The sections selection, sensitivity, cross_validation and extra_rows of each paper; not
    written by users."""

    _split_seeds = model_validator(mode="before")(split_seeds)

    @model_validator(mode="after")
    def _names_exist(self) -> "Config":
        words = Counter(word for words in self.question_types.values() for word in words)
        if twice := sorted(word for word, count in words.items() if count > 1):
            raise ValueError(f"question_types: {', '.join(twice)} belongs to two types")
        if self.arithmetic == PORTABLE and self.device == "cuda":
            raise ValueError(
                "arithmetic: portable arithmetic needs a CPU; set `device: cpu`, or `arithmetic: "
                "native` for a GPU"
            )
        for name in {ALL, OTHER} & set(self.question_types):
            raise ValueError(f"question_types.{name}: this name is taken, choose another one")
        if ALL in self.subsets:
            raise ValueError(f"subsets.{ALL}: this subset always exists, choose another name")
        subsets = [name for name in self.seeds_of if "=" not in name]  # the rest are overrides
        require_known("seeds", subsets, (*self.subsets, ALL, *KEYS))
        for name, dataset in self.datasets.items():
            require_known(f"datasets.{name}.categories", dataset.categories, self.categories)
        types = (*self.question_types, *self.relations)
        for name, subset in self.subsets.items():
            require_known(f"subsets.{name}", subset, types)
        require_known("only", self.only, self.systems)
        for name, system in self.systems.items():
            self.check_system(f"systems.{name}", system)
        for name, section in self.sentence_vectors.items():
            key = f"sentence_vectors.{name}"
            require_known(f"{key}.disjoint_from", section.disjoint_from, self.datasets)
            require_known(f"{key}.vectors", section.vectors, self.vectors)
        for name, vectors in self.vectors.items():
            require_known(f"vectors.{name}.corpora", vectors.corpora, self.datasets)
            if vectors.lemmas and self.lemmas is None:
                raise ValueError(f"vectors.{name}.lemmas: the section lemmas is missing")
        if self.named_entities:
            require_known("named_entities.vectors", self.named_entities.vectors, self.vectors)
        return self

    def require_study(self, study: Studies) -> None:
        """Raise ValueError, starting with the key, when a study contradicts other sections."""
        known = {
            "subset": (*self.subsets, ALL),
            "systems": self.systems,
            "datasets": self.datasets,
            "measure": RANKED,
            "measures": RANKED,
            "other_measures": self.datasets,
        }
        for key, section in study.sections.items():
            for name, names in known.items():
                require_known(f"{key}.{name}", getattr(section, name, ()), names)
            untrained = [name for name in section.systems if not self.systems[name].trained]
            if untrained and key != "cross_validation":
                raise ValueError(f"{key}.systems: {untrained[0]} is not trained")
        if study.selection:
            self._check_selection(study.selection)
        if sensitivity := study.sensitivity:
            for (choice, value), changes in sensitivity.variations().items():
                key = f"sensitivity.choices.{choice}.{value}"
                self._check_changes(key, changes, sensitivity.systems)

    def _check_selection(self, selection: Selection) -> None:
        choices = selection.hyperparameters
        if selection.systems and not choices:
            raise ValueError("selection.hyperparameters: give at least one choice")
        for name, allowed in selection.systems.items():
            if self.find_selection(name) != selection:
                text = f"selection.systems: {name} is also in the selection of another paper"
                raise ValueError(text)
            require_known(f"selection.systems.{name}", allowed, choices)
        for name, changes in choices.items():
            key = f"selection.hyperparameters.{name}"
            if name in (PAPER, TUNED):
                raise ValueError(f"{key}: this name is taken")
            others = [at for at in changes if not ov.override_path(at).startswith(ov.TRAINING)]
            require_known(key, others, [*override_paths(Training)], "not a key of training")
            users = [user for user, names in selection.systems.items() if name in names]
            self._check_changes(key, changes, users)

    def _check_changes(self, key: str, changes: dict, systems: Sequence[str]) -> None:
        for name in systems:
            try:
                overrides = ov.by_path(ov.as_overrides(changes), self.with_parts(name))
                changed = self.system_at(name, overrides)
            except ValueError as error:
                raise ValueError(f"{key}: {error}") from None
            self.check_system(key, changed)

    def check_system(self, key: str, system: System) -> None:
        """Raise ValueError, starting with the key, when a system needs what is not configured."""
        if system.vectors is not None:
            require_known(f"{key}.vectors", system.vectors, self.vectors)
            changed = system.vectors_changes
            if changed and not self.vectors[system.vectors].is_word2vec:
                name = f"{key}.{next(iter(changed))}"
                raise ValueError(f"{name}: {system.vectors} are not trained by word2vec")
        require_known(f"{key}.sentence_vectors", system.sentence_vectors, self.sentence_vectors)
        require_known(f"{key}.ranker.parts", system.parts, self.systems)
        for name in system.parts:
            if self.systems[name].parts:
                raise ValueError(f"{key}.ranker.parts: {name} is fused; give its parts instead")
        if system.rewriting and self.named_entities is None:
            raise ValueError(f"{key}.rewriting: the section named_entities is missing")
        if system.rewriting and system.vectors and self.vectors[system.vectors].lemmas:
            raise ValueError(f"{key}.rewriting: vectors of lemmas do not allow rewriting")

    @property
    def store_uri(self) -> str:
        """The tracking URI; by default, that of an SQLite file in the output folder."""
        return self.tracking_uri or sqlite_uri(Path(self.output_dir, "mlflow.db"))

    def paper_studies(self, paper: str) -> Studies:
        """Return the studies of a paper; those of the user's own data sets are none."""
        return self.studies.get(paper, Studies())

    def outside_papers(self, section: Literal["datasets", "systems", "subsets"]) -> list[str]:
        """Return the data sets, systems or subsets that no paper configures."""
        known = {name for study in self.studies.values() for name in getattr(study, section)}
        return [name for name in getattr(self, section) if name not in known]

    @property
    def own_subsets(self) -> list[str]:
        """The subsets on which the user's own data sets are shown, besides `all`.

        They are the user's own, or else those of the papers that are run.
        """
        return self.outside_papers("subsets") or (list(self.subsets) if self.papers else [])

    def is_tuned_on(self, system: str, dataset: str) -> bool:
        return any(
            study.selection and system in study.selection.systems and dataset in study.datasets
            for study in self.studies.values()
        )

    def with_parts(self, system: str) -> list[System]:
        """Return a system, and the parts of a fused one."""
        names = (system, *self.systems[system].parts)
        return [self.systems[name] for name in names if name in self.systems]

    def uses_training(self, system: str) -> bool:
        """Return whether a system, or a part of a fused one, is trained."""
        return any(at.trained for at in self.with_parts(system))

    def find_selection(self, system: str) -> Selection | None:
        """Return the selection that tunes a system, None if there is none."""
        selections = (study.selection for study in self.studies.values())
        return next((s for s in selections if s and system in s.systems), None)

    def hyperparameter_choices(self, system: str, overrides: Overrides) -> dict[str, Overrides]:
        """Return overrides by the name of the hyperparameters among which dev chooses for a cell.

        If there is one, its name is `paper`, or the overrides of training as text.
        """
        if (HYPERPARAMETERS, TUNED) not in overrides:
            training = ov.training_overrides(overrides)
            return {ov.to_text(training) if training else PAPER: overrides}
        selection = self.find_selection(system)
        if selection is None:
            raise AnalogyQAError(f"{system}: no selection tunes the hyperparameters of this system")
        return {PAPER: ()} | {
            name: self.canonical_overrides(system, ov.as_overrides(selection.hyperparameters[name]))
            for name in selection.systems[system]
        }

    def system_at(self, system: str, overrides: Overrides) -> System:
        """Return a system with overrides applied; raises ValueError when they do not fit it."""
        configured = self.systems[system]
        # Some overrides may be only for the parts of a fused system, or for another ranker.
        changes = ov.changes(
            (path, value)
            for path, value in ((ov.override_path(name), value) for name, value in overrides)
            if configured.reads(path) or not (configured.parts or path.startswith(ov.RANKER))
        )
        try:
            return configured.changed(changes) if changes else configured
        except ValidationError as error:
            raise ValueError(f"{system}: {first_message(error)}") from None

    def dataset_at(self, dataset: str, overrides: Overrides) -> Dataset:
        """Return a data set with overrides applied.

        A changed data set expects no counts, because it has other questions.
        """
        configured, changes = self.datasets[dataset], dict(ov.dataset_overrides(overrides))
        return configured.changed(changes | {"questions": {}}) if changes else configured

    def vectors_at(self, name: str) -> Vectors:
        """Return vectors by the name that `System.word_vectors` has for them."""
        configured, _, overrides = name.partition(ov.AT)
        vectors = self.vectors[configured]
        return vectors.changed(dict(ov.from_text(overrides))) if overrides else vectors

    def canonical_overrides(
        self, system: str, overrides: Overrides, dataset: str | None = None
    ) -> Overrides:
        """Return overrides without those that change nothing in a system or data set.

        For a fused system, keep the overrides that affect at least one of its parts.
        """
        systems = self.with_parts(system)
        changes = self._changes(system, ov.by_path(overrides, systems), dataset)
        return ov.by_name(tuple(changes.items()), systems)

    def _changes(self, system: str, overrides: Overrides, dataset: str | None) -> dict[str, str]:
        """Return the overrides, by path, that change a system, one of its parts or a data set."""
        configured = self.systems[system]
        kept: dict[str, str] = {}
        for part in configured.parts:
            kept |= self._changes(part, overrides, dataset)
        read = tuple(override for override in overrides if configured.reads(override[0]))
        changed = self.system_at(system, read)
        if dataset is not None and self.datasets[dataset].gives_relations:
            solving = ov.solving_overrides(read, self.datasets[dataset])
            if not configured.trained:
                solving.pop(TRAINED_ON, None)
            kept |= solving
        for path, value in read:
            if path == HYPERPARAMETERS:
                before, after = "", value
            elif path in ov.SOLVING_OVERRIDES:
                continue
            elif path in ov.DATASET_OVERRIDES:
                if dataset is None:
                    continue
                sections = (self.datasets[dataset], self.dataset_at(dataset, read))
                before, after = (ov.value_at(section, path) for section in sections)
            else:
                before, after = (ov.effective_value(at, path) for at in (configured, changed))
            # A cross-validation has other partitions than the fold of a data set.
            if before != after or (path == FOLD and after != ov.as_text(None)):
                kept[path] = after
        return kept

    def seeds_at(self, subset: str, overrides: Overrides) -> list[int]:
        """Return the seeds of a cell."""
        if (text := ov.to_text(overrides)) in self.seeds_of:
            return self.seeds_of[text]
        if FOLD in dict(overrides):
            return self.seeds_of.get(CROSS_VALIDATION, self.seeds)
        if VARIATIONS in self.seeds_of and ov.training_overrides(overrides):
            return self.seeds_of[VARIATIONS]
        return self.seeds_of.get(subset, self.seeds)

    @property
    def all_seeds(self) -> list[int]:
        return list(dict.fromkeys(sum(self.seeds_of.values(), self.seeds)))

    def subset_types(self, subset: str) -> list[str] | None:
        """Return the question types, or the relations, of a subset; None for `all`."""
        return None if subset == ALL else self.subsets.get(subset, [subset])

    @property
    def relations(self) -> list[str]:
        """The relations of all data sets, each of which is also a subset."""
        return [name for dataset in self.datasets.values() for name in dataset.relations]

    def is_comparable(self, dataset: str) -> bool:
        """Return whether published values are about our data; True for an unknown data set."""
        known = self.datasets.get(dataset)
        return self.comparable and (known is None or known.comparable)

    def is_lowercase(self, section: Vectors | SentenceVectors) -> bool:
        return self.lowercase if section.lowercase is None else section.lowercase


NOT_SELECTED = "it is not among the systems of `only`"


def not_selected(config: Config) -> dict[str, str]:
    """Return the systems that `only` does not name, nor needs as parts, with the reason."""
    selected = config.only or list(config.systems)
    kept = {part for name in selected for part in (name, *config.systems[name].parts)}
    return {name: NOT_SELECTED for name in config.systems if name not in kept}


def leave_out(config: Config, reasons: dict[str, str]) -> Config:
    """Return the configuration without the systems and data sets that `reasons` name.

    Tables show the reasons, which are added to `left_out`; keys such as a system with overrides are
    only shown. Raises AnalogyQAError when no system is left.
    """
    systems = {name: system for name, system in config.systems.items() if name not in reasons}
    if not systems:
        raise AnalogyQAError("\n".join(dict.fromkeys(reasons.values())))
    changed = {
        "systems": systems,
        "datasets": {name: data for name, data in config.datasets.items() if name not in reasons},
        "studies": {name: study.without(reasons.keys()) for name, study in config.studies.items()},
        "left_out": config.left_out | reasons,
    }
    return config.model_copy(update=changed)
