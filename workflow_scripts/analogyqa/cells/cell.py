"""A cell: the names of its files, the other cells it needs, and what its results depend on."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from analogyqa.errors import AnalogyQAError, explain_damage
from analogyqa.settings import overrides as ov
from analogyqa.settings.base import AT
from analogyqa.settings.data import (
    ALL,
    FOLD,
    PARTITION,
    SHIFT,
    SOLVING_OVERRIDES,
    TRAINED_ON,
    WEIGHTED_BY,
)
from analogyqa.settings.overrides import Overrides, as_text
from analogyqa.settings.run import Config
from analogyqa.settings.systems import System
from analogyqa.settings.vectors import SEED

Names = dict[str, str | int]  # that fill in a path
Settings = dict[str, Any]  # the part of a configuration that a result depends on: a JSON value

_TEXTS = {"title", "only_costs", "most_seeds"}  # keys of a system that change no run of a seed
_NOT_IN_CORPUS = {"title", "questions", "evaluation", "columns", "encoding", "comparable"}


class Cell(NamedTuple):
    """A system on a subset of a data set: one job that runs all seeds.

    `overrides` replace configured values for this cell: sorted pairs of a name and a value as text.
    """

    system: str
    dataset: str
    subset: str
    overrides: Overrides = ()

    # Names

    @property
    def path(self) -> str:
        return f"{self.system}/{self.dataset}/{self.subset}/{ov.to_text(self.overrides)}"

    @classmethod
    def from_path(cls, path: Path) -> "Cell":
        """Return the cell of a path that ends in the cell's `path`."""
        system, dataset, subset, overrides = path.parts[-4:]
        return cls(system, dataset, subset, ov.from_text(overrides))

    @property
    def label(self) -> str:
        """The cell in one line, for messages; overrides are shown only if there are any."""
        return " ".join([self.system, self.dataset, self.subset, *map("=".join, self.overrides)])

    @property
    def corpus(self) -> str:
        """The name of its corpus: the data set, with overrides of how it is read."""
        return corpus_name(self.dataset, self.overrides)

    def corpora(self, settings: Settings) -> dict[int, str]:
        """Return the name of the corpus table of each seed; `settings` are those of its record."""
        seeds = settings["seeds"]
        return dict(zip(seeds, settings.get("corpora") or [self.corpus] * len(seeds), strict=True))

    def record(self) -> dict:
        """Return the cell as a JSON value."""
        return {**self._asdict(), "overrides": dict(self.overrides)}

    @classmethod
    def from_record(cls, record: dict) -> "Cell":
        """Return the cell of a value that `record` returned."""
        return cls(**{**record, "overrides": ov.as_overrides(record["overrides"])})

    # Other cells

    def with_run(self, config: Config) -> "Cell":
        """Return the cell whose run holds the results of this one.

        A run that solves analogies has all categories, and takes no means over them.
        """
        if not config.datasets[self.dataset].gives_relations:
            return self
        return self._replace(subset=ALL, overrides=ov.without(self.overrides, {WEIGHTED_BY}))

    def training_cell(self, config: Config) -> "Cell | None":
        """Return another cell that trains the encoder of this one; None if there is none."""
        trained_on = dict(self.overrides).get(TRAINED_ON)
        if trained_on is None or not config.datasets[self.dataset].gives_relations:
            return None
        dataset, subset = trained_on.split("+")
        overrides = ov.without(self.overrides, SOLVING_OVERRIDES)
        return self._replace(dataset=dataset, subset=subset, overrides=overrides)

    def parts(self, config: Config) -> "dict[str, Cell]":
        """Return the cell of each part of a fused system, by system; {} for any other system.

        In a cross-validation, all parts of an ensemble must have its partition of the questions, or
        one of them may be trained on what it tests. So the second seed of a part, in the partition
        of the first, has a cell of its own, `shifted_name(system, 1)`.
        """
        shifts = config.systems[self.system].parts
        if not _has_partitions(self.overrides):
            return {name: self._at(name, config) for name in shifts}
        return {
            shifted_name(name, shift): self._at(name, config)._shifted(shift)
            for name in shifts
            for shift in shifts[name]
        }

    def behind(self, config: Config) -> "list[Cell]":
        """Return the cells whose training its results rest on: itself, its parts, its encoder's."""
        training = self.training_cell(config)
        return [self, *self.parts(config).values(), *([training] if training else [])]

    def _shifted(self, shift: int) -> "Cell":
        fold = shifted_name(dict(self.overrides)[FOLD], shift)
        return self._replace(overrides=_with_fold(self.overrides, fold))

    def _at(self, system: str, config: Config) -> "Cell":
        """Return the cell of another system, with the overrides that affect it."""
        overrides = config.canonical_overrides(system, self.overrides, self.dataset)
        return self._replace(system=system, overrides=overrides)

    def with_weights(self, config: Config) -> "Cell":
        """Return the cell whose training run this one scores with.

        It is that of the first system that differs only in the weights it scores with.
        """
        if not config.system_at(self.system, self.overrides).training.weight_averaging:
            return self
        systems = config.systems.items()
        trained = {name: one.model_dump(exclude=_TEXTS | {"scores_with"}) for name, one in systems}
        first = next(name for name in trained if trained[name] == trained[self.system])
        return self._replace(system=first)

    def prerequisite(self, config: Config) -> "Cell | None":
        """Return the cell whose training run this one needs, None if it needs no other.

        A system that starts from another one needs that system's cell on all questions; where that
        cell has fewer seeds, `runs.train` trains the missing ones itself.
        """
        if (first := self.with_weights(config)) != self:
            return first
        start = config.system_at(self.system, self.overrides).starts_from
        first = self._replace(subset=ALL, overrides=ov.dataset_overrides(self.overrides))
        names = (name for name, other in config.systems.items() if other == start)
        return next((first._at(name, config) for name in names), None)

    # What its job needs and its results depend on

    def systems(self, config: Config) -> dict[str, System]:
        """Return its system by its hyperparameters; several if dev will choose."""
        choices = config.hyperparameter_choices(self.system, self.overrides).items()
        return {name: config.system_at(self.system, overrides) for name, overrides in choices}

    def seeds(self, config: Config) -> list[int]:
        """Return its seeds, which are those of the cell that trains its encoder, if any.

        Those of a cell `-shift1` are the next ones of `Config.all_seeds`.
        """
        if training := self.training_cell(config):
            return training.seeds(config)
        if config.datasets[self.dataset].gives_relations:
            return config.seeds_at(ALL, ())
        fold, _, shift = dict(self.overrides).get(FOLD, "").partition(SHIFT)
        if not shift:
            most = config.systems[self.system].most_seeds
            return config.seeds_at(self.subset, self.overrides)[:most]
        seeds = config.seeds_at(self.subset, _with_fold(self.overrides, fold))
        known = config.all_seeds
        return [known[(known.index(seed) + int(shift)) % len(known)] for seed in seeds]

    def requires(self, config: Config) -> dict[str, list[Names]]:
        """Return what its job reads besides its texts: by role, the names that fill in each path.

        The rules say which path that is. Roles that the cell does not need are empty. Prototypes
        and quadruples, and word vectors and corpora that depend on the seed, have an entry for each
        seed.
        """
        systems = list(self.systems(config).values())
        system = config.system_at(self.system, self.overrides)
        at: Names = {"system": self.system, "dataset": self.dataset, "corpus": self.corpus}
        compared = at | {"subset": self.subset, "p": system.p}
        if choice := system.ranker_spec.prototype_choice:
            chosen = ov.as_overrides(dict(self.overrides) | {"prototype_choice": choice})
            compared["corpus"] = corpus_name(self.dataset, chosen)
        by_seed = [compared | {"seed": seed} for seed in self.seeds(config)]
        draws = [one.training.negatives.file_stem for one in systems if one.learns_from_quadruples]
        word_vectors = system.word_vectors
        vectors = [at | {"vectors": word_vectors}] if word_vectors else []
        is_drawn = system.vectors and config.vectors[system.vectors].is_word2vec
        if is_drawn and not config.datasets[self.dataset].gives_relations:
            drawn = f"{word_vectors}{AT}{SEED}"
            vectors = [names | {"vectors": f"{drawn}={names['seed']}"} for names in by_seed]
        training, start = self.training_cell(config), self.prerequisite(config)
        corpora = corpora_by_seed(self.corpus, self.seeds(config), config.all_seeds)
        return {
            "corpus": [at | {"corpus": name} for name in dict.fromkeys(corpora.values())],
            "vectors": vectors,
            "prototypes": by_seed if system.needs_prototypes else [],
            "training quadruples": [
                names | {"draw": draw} for draw in dict.fromkeys(draws) for names in by_seed
            ],
            "evaluation quadruples": by_seed if system.compares else [],
            "trained encoder": [{"cell": training.path}] if training else [],
            # Without this, two jobs could make the same training run at once.
            "earlier run": [{"cell": start.path}] if start else [],
            "selection": [at] if (ov.HYPERPARAMETERS, ov.TUNED) in self.overrides else [],
            "parts": [{"cell": part.path} for part in self.parts(config).values()],
        }

    def settings(self, config: Config) -> Settings:
        """Return the part of the configuration that its numbers depend on."""
        systems = self.systems(config)
        system = next(iter(systems.values()))
        dataset = config.datasets[self.dataset]
        fold = config.dataset_at(self.dataset, self.overrides).fold  # has questions of all types
        types = config.subset_types(self.subset)
        # Means over categories are taken after the run.
        evaluation = dataset.evaluation_at(self.overrides).model_dump(exclude={WEIGHTED_BY})
        entities = None
        if system.rewriting and (section := config.named_entities):
            vectors = vectors_settings(config, section.vectors)
            entities = section.model_dump(mode="json") | {"vectors": vectors}
        seeds = self.seeds(config)
        corpora = corpora_by_seed(self.corpus, seeds, config.all_seeds)
        return {
            "arithmetic": config.arithmetic,
            "seeds": seeds,
            # Only of a cross-validation.
            **({"corpora": [*corpora.values()]} if _has_partitions(self.overrides) else {}),
            "question_types": types,
            "systems": {name: system_settings(one) for name, one in systems.items()},
            "lowercase": reads_lowercase(config, system),
            "corpus": corpus_settings(config, self.corpus, None if fold else types),
            "evaluation": evaluation if dataset.gives_relations else None,
            "vectors": system.word_vectors and vectors_settings(config, system.word_vectors),
            "sentence_vectors": {
                name: sentence_settings(config, name)
                for name in system.sentence_vectors or ()
                if name in config.sentence_vectors
            },
            "named_entities": entities,
            "parts": {name: part.settings(config) for name, part in self.parts(config).items()},
        }


# Corpora


def corpus_name(dataset: str, overrides: Overrides) -> str:
    return ov.AT.join([dataset, *map("=".join, ov.dataset_overrides(overrides))])


def split_corpus(name: str) -> tuple[str, Overrides]:
    """Return the data set and the overrides in a name made by `corpus_name`."""
    dataset, _, overrides = name.partition(ov.AT)
    return dataset, ov.from_text(overrides) if overrides else ()


def _has_partitions(overrides: Overrides) -> bool:
    """Return whether each seed has a partition of its own of the questions into folds."""
    return PARTITION not in dict(overrides).get(FOLD, PARTITION)


def corpora_by_seed(name: str, seeds: Iterable[int], all_seeds: Sequence[int]) -> dict[int, str]:
    """Return the name of the table of a corpus that each seed reads.

    It is the same for all seeds, except in a cross-validation. There, a seed names its partition of
    the questions: its own one, or, for `-shift1`, the one before it in `all_seeds`.
    """
    dataset, overrides = split_corpus(name)
    if not _has_partitions(overrides):
        return dict.fromkeys(seeds, name)
    fold, _, shift = dict(overrides)[FOLD].partition(SHIFT)
    names = {}
    for seed in seeds:
        partition = all_seeds[all_seeds.index(seed) - int(shift or 0)]
        names[seed] = corpus_name(dataset, _with_fold(overrides, f"{fold}{PARTITION}{partition}"))
    return names


def _with_fold(overrides: Overrides, fold: str) -> Overrides:
    return ov.as_overrides(dict(overrides) | {FOLD: fold})


def shifted_name(name: str, shift: int) -> str:
    """Return the name of a fold, or of a part of an ensemble, with other seeds of a partition."""
    return f"{name}{SHIFT}{shift}" if shift else name


def without_fold(name: str) -> str:
    """Return the name of the corpus that a fold is cut from, or the name itself for no fold."""
    dataset, overrides = split_corpus(name)
    return corpus_name(dataset, ov.without(overrides, {FOLD}))


# Settings


def system_settings(system: System) -> Settings:
    """Return a system as a JSON value, without its title and what it does not read."""
    read = {"training": system.trained, "p": system.needs_prototypes, "starts_from": False}
    excluded = _TEXTS | {name for name, is_read in read.items() if not is_read}
    first = system.starts_from
    start = first and first.model_dump(mode="json", exclude=_TEXTS)
    return system.model_dump(mode="json", exclude=excluded) | {"starts_from": start}


def system_from(settings: Mapping) -> System:
    """Return the system of a value that `system_settings` returned.

    Raises pydantic's ValidationError, a ValueError, for any other value.
    """
    first = settings.get("starts_from")
    start = first and {"title": "", **first}
    return System.model_validate({"title": "", **settings, "starts_from": start})


def reads_lowercase(config: Config, system: System) -> bool:
    """Return whether the words of a system are lower-cased, as those of its vectors are."""
    if system.vectors is None:
        return config.lowercase
    return config.is_lowercase(config.vectors_at(system.vectors))


def corpus_settings(config: Config, corpus: str, types: Collection[str] | None = None) -> Settings:
    """Return the configuration that the table of a corpus depends on.

    `types` are the question types that matter, None for all. A question has a single type.
    """
    dataset = config.dataset_at(*split_corpus(corpus))
    values = dataset.model_dump(mode="json", exclude=_NOT_IN_CORPUS)
    values |= {"options": dataset.reader_options} if dataset.reader_options else {}
    values |= {"question_types": None, "parser": None}
    if not dataset.gives_relations:
        all_types = config.question_types.items()
        values["question_types"] = {
            name: words for name, words in all_types if types is None or name in types
        }
    if dataset.categories:
        values["categories"] = {
            name: config.categories[name].model_dump(mode="json", exclude={"title"})
            for name in dataset.categories
        }
        values["parser"] = config.parser and config.parser.model_dump(mode="json")
    return values


def vectors_settings(config: Config, name: str) -> Settings:
    """Return the configuration of word vectors, by the name that `System.word_vectors` has."""
    vectors = config.vectors_at(name)
    values = vectors.model_dump(mode="json") | {"lowercase": config.is_lowercase(vectors)}
    values["corpora"] = {
        dataset: {"splits": splits, **corpus_settings(config, dataset, ())}
        for dataset, splits in (vectors.corpora or {}).items()
    }
    lemmas = config.lemmas if vectors.lemmas else None
    return values | {"lemmas": lemmas and lemmas.model_dump(mode="json")}


def sentence_settings(config: Config, name: str) -> Settings:
    """Return the configuration that sentence vectors depend on."""
    section = config.sentence_vectors[name]
    values = section.model_dump(mode="json") | {"options": section.options}
    values["lowercase"] = config.is_lowercase(section)
    dataset = section.disjoint_from
    values |= {"disjoint_from": dataset and corpus_settings(config, dataset, ())}
    return values | {"vectors": section.vectors and vectors_settings(config, section.vectors)}


def differences(before: object, now: object, key: str = "") -> Iterator[str]:
    """Yield a line for each key at which two JSON values differ: `training.margin: 1, now 2`."""
    if isinstance(before, dict) and isinstance(now, dict):
        for name in dict.fromkeys([*before, *now]):
            below = f"{key}.{name}" if key else str(name)
            yield from differences(before.get(name), now.get(name), below)
    elif before != now:
        yield f"{key}: {as_text(before)}, now {as_text(now)}"


def require_same(path: str | Path, settings: Settings) -> None:
    """Raise AnalogyQAError when a result, whose record is at `path`, was made with other settings.

    Snakemake compares parameters too, but with its own metadata: it has none after `.snakemake` was
    deleted, does not read them with restricted rerun triggers, and believes them after `--touch`.
    """
    try:
        record = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return  # damaged: the job that reads it says so, beside the jobs that read other files
    before = record.get("settings") if isinstance(record, dict) else None  # older code wrote none
    if before == settings:
        return
    changed = list(differences(before, settings)) if before else ["the record does not say which"]
    raise AnalogyQAError(
        f"{path}: made with other settings ({'; '.join(changed[:3])}), but Snakemake would keep "
        "it: it has no metadata for the file, has those of another one, or was told not to compare "
        "parameters or to --touch the file. Restore those settings, choose another output_dir, or "
        "run everything again with --forceall, without --touch (training runs with unchanged "
        "settings are read from checkpoints/)."
    )


def require_same_code(path: str | Path, code: str) -> None:
    """Raise AnalogyQAError when the record of a run, at `path`, has another hash of its code."""
    with explain_damage(path):
        before = json.loads(Path(path).read_text(encoding="utf-8")).get("code", code)
    if before != code:
        raise AnalogyQAError(
            f"{path}: made by other code, but Snakemake would keep it, as it has no metadata for "
            "the file. Delete its folder to run it again, or everything with --forceall."
        )


# Runs that hold several cells


class Part(NamedTuple):
    """The part of a run's results that belongs to a cell."""

    categories: list[str] | None  # None for all
    analogies: dict[str, int]  # that weight each category; empty for those found


Parts = dict[Cell, Part]


def cells_by_run(config: Config, cells: Iterable[Cell]) -> dict[Cell, Parts]:
    """Return the given cells by the cell of the run that holds them, where they may share one."""
    parts: dict[Cell, Parts] = {}
    for cell in cells:
        dataset = config.datasets[cell.dataset]
        if dataset.gives_relations:
            weights = {}
            if dataset.evaluation_at(cell.overrides).weighted_by == "configured":
                pairs = {name: config.categories[name].pairs for name in dataset.categories}
                weights = {name: count * (count - 1) // 2 for name, count in pairs.items()}
            part = Part(config.subset_types(cell.subset), weights)
            parts.setdefault(cell.with_run(config), {})[cell] = part
    return parts
