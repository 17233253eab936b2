"""The whole configuration: checked before any job starts."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import (
    BeforeValidator,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from analogyqa.errors import AnalogyQAError
from analogyqa.question_types import SUBSETS
from analogyqa.settings.base import (
    Folder,
    Name,
    Section,
    WholeNumber,
    explain_error,
    laid_over,
    require_known,
    section_with,
    without_nulls,
)
from analogyqa.settings.data import Dataset
from analogyqa.settings.studies import (
    CHOSEN,
    PAPER,
    SETTING_PART,
    Bootstrap,
    Selection,
    Sensitivity,
    split_id,
)
from analogyqa.settings.systems import Model, Prototypes, Training
from analogyqa.settings.vectors import NamedEntities, SentenceVectors, Vectors
from analogyqa.yaml_files import read_yaml, require_few_values

MOST_SEEDS = 10_000
_ABSENT = object()
_REPOSITORY_CONFIG = Path(__file__).parents[3] / "config.yaml"


def _seed_list(value: object) -> object:
    if isinstance(value, int) and not isinstance(value, bool):
        if value < 1:
            raise ValueError("at least 1 seed is needed")
        if value > MOST_SEEDS:
            raise ValueError(f"at most {MOST_SEEDS:,} seeds can be asked for")
        return list(range(value))
    if not isinstance(value, list):
        raise ValueError("give a number or a list of numbers")
    return value


class Config(Section):
    """The whole of config.yaml."""

    output_dir: Folder
    resources_dir: Folder = "resources"
    mirrors: list[str] = []
    tracking_uri: str | None = None
    device: Literal["auto", "cpu", "cuda"] = "auto"
    seeds: Annotated[
        list[Annotated[WholeNumber, Field(ge=0, lt=2**31)]],
        Field(min_length=1),
        BeforeValidator(_seed_list),
    ]
    comparable: bool = True
    lowercase: bool = True
    datasets: dict[Name, Dataset] = Field(min_length=1)
    subsets: list[Literal[SUBSETS]] = Field(  # type: ignore[valid-type]
        default=list(SUBSETS), min_length=1
    )
    vectors: dict[Name, Vectors] = {}
    sentence_vectors: dict[Name, SentenceVectors] = {}
    named_entities: NamedEntities | None = None
    prototypes: Prototypes = Prototypes()
    training: Training = Training()
    models: dict[Name, Model] = Field(min_length=1)
    left_out: dict[str, str] = {}
    selection: Selection = Selection()
    sensitivity: Sensitivity = Sensitivity()
    bootstrap: Bootstrap = Bootstrap()

    @field_validator("seeds")
    @classmethod
    def _distinct(cls, seeds: list[int]) -> list[int]:
        if len(set(seeds)) < len(seeds):
            raise ValueError("the seeds must differ from each other")
        return seeds

    @model_validator(mode="after")
    def _names_exist(self) -> "Config":
        for name, model in self.models.items():
            self._check_model(f"models.{name}", model)
            loss = self.training_of(name, PAPER).loss
            if model.trained and loss == "pairwise" and model.ranker != "cosine":
                raise ValueError(f"models.{name}: the loss pairwise needs ranker: cosine")
        for name, stored in self.sentence_vectors.items():
            if stored.vectors is not None:
                require_known(f"sentence_vectors.{name}.vectors", stored.vectors, self.vectors)
        if self.named_entities:
            require_known("named_entities.vectors", self.named_entities.vectors, self.vectors)
        return self

    @model_validator(mode="after")
    def _settings_fit(self) -> "Config":
        for section, names, subset in (
            ("selection", self.selection.models, self.selection.subset),
            ("sensitivity", self.sensitivity.models, self.sensitivity.subset),
        ):
            for name in names:
                require_known(f"{section}.models", name, self.models)
                if not self.models[name].trained:
                    raise ValueError(f"{section}.models: {name} is not trained, it has no settings")
                if subset not in self.subsets_of(name):
                    raise ValueError(
                        f"{section}.subset: {subset} is not among the subsets of {name}: "
                        f"{', '.join(self.subsets_of(name))}"
                    )
        if self.selection.models and not self.selection.settings:
            raise ValueError("selection.settings: name at least one setting to choose")
        for name, changes in self.selection.settings.items():
            if name in (PAPER, CHOSEN):
                raise ValueError(f"selection.settings.{name}: this name is taken, choose another")
            section_with(self.training, changes, ("selection", "settings", name))
        for name in self.sensitivity.datasets or []:
            require_known("sensitivity.datasets", name, self.datasets)
        for name, variation in self.sensitivity.variations().items():
            location = ("sensitivity", "axes", *name.split(SETTING_PART, 1))
            section_with(self.training, variation.training, (*location, "training"))
            for dataset in self.datasets.values():
                section_with(dataset, variation.dataset, (*location, "dataset"))
            for model in map(self.models.__getitem__, self.sensitivity.models):
                changed = section_with(model, variation.model, (*location, "model"))
                self._check_model(".".join((*location, "model")), changed)
        return self

    def _check_model(self, key: str, model: Model) -> None:
        if model.vectors is not None:
            require_known(f"{key}.vectors", model.vectors, self.vectors)
        for name in model.sentence_vectors or []:
            require_known(f"{key}.sentence_vectors", name, self.sentence_vectors)
        if model.rewriting and self.named_entities is None:
            raise ValueError(f"{key}.rewriting: the section named_entities is missing")

    @model_validator(mode="after")
    def _enough_prototypes(self) -> "Config":
        for name, dataset in self.datasets.items():
            for question_type, count in dataset.questions.get("train", {}).items():
                for key, p in (("p", self.prototypes.p), ("curve", self.prototypes.largest)):
                    if p > count:
                        raise ValueError(
                            f"prototypes.{key}: {p} is more than the {count} training questions "
                            f"of type {question_type} in {name}, each of which gives at most one "
                            f"prototype; allowed: 1 to {count}"
                        )
        return self

    @property
    def settings(self) -> list[str]:
        """The settings that a selected model is trained with on the selection's subset."""
        return [PAPER, *self.selection.settings]

    def training_of(self, model: str, setting: str) -> Training:
        """Return how a model is trained at a setting: `paper`, a selected one or a variation."""
        own = self.models[model].training
        training = section_with(self.training, own, ("models", model, "training"))
        variation = self.sensitivity.variations().get(setting)
        changes = variation.training if variation else self.selection.settings.get(setting, {})
        return section_with(training, changes, (setting,))

    def model_of(self, model_id: str) -> Model:
        """Return a model, with what the variation in its id changes."""
        name, setting = split_id(model_id)
        variation = self.sensitivity.variations().get(setting)
        changes = variation.model if variation else {}
        return section_with(self.models[name], changes, (model_id,))

    def dataset_of(self, dataset_id: str) -> Dataset:
        """Return a data set, with what the variation in its id changes.

        What is dropped is not counted any more, so a changed data set expects no counts.
        """
        name, setting = split_id(dataset_id)
        if setting == PAPER:
            return self.datasets[name]
        changes = self.sensitivity.variations()[setting].dataset
        dataset = section_with(self.datasets[name], changes, (dataset_id,))
        return dataset.model_copy(update={"questions": {}})

    def lowercase_of(self, section: Vectors | SentenceVectors) -> bool:
        return self.lowercase if section.lowercase is None else section.lowercase

    def subsets_of(self, model: str) -> list[str]:
        own = self.models[model].subsets
        return [subset for subset in self.subsets if own is None or subset in own]

    def p_of(self, model: str) -> int:
        return self.prototypes.p if self.models[model].needs_prototypes else 0

    @property
    def varied_datasets(self) -> list[str]:
        return self.sensitivity.datasets or list(self.datasets)


def leave_out(config: Config, reasons: dict[str, str]) -> Config:
    """Return the configuration without the models that cannot be run here.

    Args:
        config: as loaded.
        reasons: model id to why; `left_out` then tells the tables. The id of a model at a variation
            takes only this variation of it away.

    Raises AnalogyQAError when no model is left.
    """
    models = {name: model for name, model in config.models.items() if name not in reasons}
    if not models:
        raise AnalogyQAError("\n".join(dict.fromkeys(reasons.values())))

    def without(section: Selection | Sensitivity) -> Section:
        return section.model_copy(
            update={"models": [name for name in section.models if name in models]}
        )

    return config.model_copy(
        update={
            "models": models,
            "selection": without(config.selection),
            "sensitivity": without(config.sensitivity),
            "left_out": {**config.left_out, **reasons},
        }
    )


def load_config(values: dict, origin: str = "config", given: Sequence[Path | dict] = ()) -> Config:
    """Check `values` and return them as a Config.

    A data set, vectors, model, setting or variation that is null is left out: so one configuration
    file can take away what another, under it, has.

    Args:
        values: of all files and the command line.
        origin: what a message calls them.
        given: the files, and the values of `--config`, that they are from, what has the last word
            first. A message names the first that has the wrong key in place of `origin`.

    Raises AnalogyQAError with one line for each wrong key: the key, the value given, what is
    allowed and, for an unknown key, the nearest known one.
    """
    require_few_values(values, origin)
    values = dict(values)
    for section in ("datasets", "vectors", "sentence_vectors", "models"):
        values[section] = without_nulls(values.get(section, {}))
    if isinstance(selection := values.get("selection"), dict):
        settings = without_nulls(selection.get("settings", {}))
        values["selection"] = {**selection, "settings": settings}
    if isinstance(sensitivity := values.get("sensitivity"), dict):
        axes = without_nulls(sensitivity.get("axes", {}))
        if isinstance(axes, dict):
            axes = {axis: without_nulls(choices) for axis, choices in axes.items()}
        values["sensitivity"] = {**sensitivity, "axes": axes}
    try:
        return Config.model_validate(values)
    except ValidationError as error:
        lines = [
            f"{_place_of(item['loc'], given) or origin}: {explain_error(Config, item)}"
            for item in error.errors()
        ]
        raise AnalogyQAError("\n".join(lines)) from None


def _place_of(location: tuple[str | int, ...], given: Sequence[Path | dict]) -> str | None:
    """Return what has a key, as a user calls it: the path of a file from here, or `--config`."""
    for place in given if location else ():
        value: object = read_yaml(place) if isinstance(place, Path) else place
        for part in location:
            value = value.get(part, _ABSENT) if isinstance(value, dict) else _ABSENT
            if value is _ABSENT or not isinstance(value, dict):
                break
        if value is not _ABSENT:
            return os.path.relpath(place) if isinstance(place, Path) else "--config"
    return None


def read_config(path: str | Path) -> Config:
    """Read a configuration file, laid over the repository's config.yaml as Snakemake lays it.

    Raises AnalogyQAError when the file cannot be read or has a wrong key.
    """
    values: dict = {}
    for file in dict.fromkeys([_REPOSITORY_CONFIG, Path(path).resolve()]):
        values = laid_over(values, read_yaml(file))
    return load_config(values, str(path))


def tracking_uri_of(config: Config) -> str:
    """Return the tracking URI, the default being an SQLite file in the output folder."""
    return config.tracking_uri or f"sqlite:///{Path(config.output_dir, 'mlflow.db')}"
