"""The configuration: every key, its type and its limits, checked before any job starts."""

import difflib
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import yaml
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from analogyqa.corpora import READERS
from analogyqa.encoders import ENCODERS
from analogyqa.errors import AnalogyQAError
from analogyqa.question_types import COMB, SUBSETS

PAPER = "paper"
CHOSEN = "chosen"
_REPOSITORY_CONFIG = Path(__file__).parents[2] / "config.yaml"
SETTING_SEPARATOR = "+"

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")]
# Strict: the YAML values true and false are not the numbers 1 and 0.
Count = Annotated[int, Field(strict=True, ge=1)]
Alternatives = Annotated[
    list[str],
    Field(min_length=1),
    BeforeValidator(lambda value: [value] if isinstance(value, str) else value),
]


class Section(BaseModel):
    """A mapping of the configuration in which an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Dataset(Section):
    """One data set: who reads it, and where its splits come from.

    A split is the name of a source in sources.yaml, a path (one that holds a slash), or a list of
    alternatives of which the first available is taken.
    """

    title: str
    reader: Literal[tuple(READERS)]  # type: ignore[valid-type]
    train: Alternatives
    dev: Alternatives
    test: Alternatives
    questions: dict[
        Literal["train", "dev", "test"],
        dict[Literal["who", "when", "where"], Count],
    ] = {}

    @field_validator("questions", mode="before")
    @classmethod
    def _unchecked(cls, questions: object) -> object:
        """Null: another configuration file's counts do not hold for this data."""
        return {} if questions is None else questions


class Vectors(Section):
    """Word vectors, either read from a file or trained here with fastText."""

    source: Alternatives | None = None
    train_on: Alternatives | None = None
    dim: Annotated[int, Field(strict=True, ge=1, le=2000)] = 300
    epochs: Count = 5
    min_count: Count = 5
    out_of_vocabulary: Literal["random", "zero", "subword"] = "random"

    @model_validator(mode="after")
    def _one_origin(self) -> "Vectors":
        if (self.source is None) == (self.train_on is None):
            raise ValueError("give either source (a file) or train_on (a text), not both or none")
        if self.source and set(self.model_fields_set) & {"dim", "epochs", "min_count"}:
            raise ValueError("dim, epochs and min_count belong to train_on; a source has its own")
        # Of a registered source the file is known later, when select_vectors checks it.
        readable = all(name.endswith(".bin") or "/" not in name for name in self.source or [])
        if self.out_of_vocabulary == "subword" and not readable:
            raise ValueError("subword needs a fastText .bin file or train_on")
        return self


class Negatives(Section):
    """How wrong candidates become negative quadruples.

    `per: pair` draws `count` wrong candidates for each correct pair, and every prototype meets
    them; `per: question` draws `count` for each prototype and question.
    """

    draw: Literal["resampled", "fixed"] = "resampled"
    per: Literal["pair", "question"] = "pair"
    count: Annotated[int, Field(strict=True, ge=1, le=100)] = 1

    @property
    def file_stem(self) -> str:
        """The name of the training quadruples that are drawn so, without its suffix."""
        return f"train-{self.count}-per-{self.per}"


class Training(Section):
    """One way of training an encoder; the defaults are the paper's, as far as it states them."""

    loss: Literal["printed", "hinge", "lwda"] = "printed"
    margin: float = Field(default=0.1, ge=-1, le=100)
    dropout: float = Field(default=0.5, ge=0, lt=1)
    dropout_place: Literal["word_vectors", "sentence_vector", "both"] = "word_vectors"
    learning_rate: float = Field(default=0.001, gt=0, le=1)
    weight_decay: float = Field(default=0.01, ge=0, le=1)
    weight_decay_coupling: Literal["coupled", "decoupled"] = "coupled"
    sentence_dim: Annotated[int, Field(strict=True, ge=2, le=4096, multiple_of=2)] = 300
    batch_size: Count = 16
    max_epochs: Count = 20
    patience: Count = 4
    negatives: Negatives = Negatives()


class Model(Section):
    """One system: an encoder, and how its sentence vectors rank candidates."""

    title: str
    encoder: Literal[tuple(ENCODERS)]  # type: ignore[valid-type]
    vectors: str | None = None
    ranker: Literal["analogy", "cosine"]
    aggregate: Literal["max", "mean"] = "max"

    @model_validator(mode="after")
    def _vectors_where_read(self) -> "Model":
        needed = ENCODERS[self.encoder].needs_vectors
        if needed and self.vectors is None:
            raise ValueError(f"the encoder {self.encoder} needs vectors")
        if not needed and self.vectors is not None:
            raise ValueError(f"the encoder {self.encoder} reads no vectors")
        return self

    def scientific(self) -> dict:
        """Return what of a model its scores depend on."""
        return self.model_dump(exclude={"title"})

    @property
    def trained(self) -> bool:
        return ENCODERS[self.encoder].trained

    @property
    def needs_prototypes(self) -> bool:
        """Analogy compares with prototypes; training learns from quadruples made of them."""
        return self.trained or self.ranker == "analogy"


class Prototypes(Section):
    """The number p of prototypes of each question type."""

    p: Count = 30
    curve: list[Count] = []

    @property
    def largest(self) -> int:
        return max([self.p, *self.curve])


class Selection(Section):
    """Settings that a trained model may choose from, by its mean dev MRR on one subset."""

    subset: Literal[SUBSETS] = COMB  # type: ignore[valid-type]
    models: list[str] = []
    settings: dict[Name, dict] = {}


class Bootstrap(Section):
    """The intervals: seeds and questions resampled together."""

    samples: Annotated[int, Field(strict=True, ge=100)] = 2000
    confidence: float = Field(default=0.95, gt=0.5, lt=1)


class Cell(NamedTuple):
    """One job of the cluster: a model on a subset of a data set with p prototypes, all seeds."""

    model: str
    dataset: str
    subset: str
    p: int

    @property
    def path(self) -> str:
        return f"{self.model}/{self.dataset}/{self.subset}/p{self.p}"


def _seed_list(value: object) -> object:
    if isinstance(value, int) and not isinstance(value, bool):
        if value < 1:
            raise ValueError("at least 1 seed is needed")
        return list(range(value))
    return value


class Config(Section):
    """The whole of config.yaml."""

    output_dir: str
    resources_dir: str = "resources"
    mirrors: list[str] = []
    tracking_uri: str | None = None
    device: Literal["auto", "cpu", "cuda"] = "auto"
    seeds: Annotated[
        list[Annotated[int, Field(strict=True, ge=0, lt=2**31)]],
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
    prototypes: Prototypes = Prototypes()
    training: Training = Training()
    models: dict[Name, Model] = Field(min_length=1)
    left_out: dict[str, str] = {}
    selection: Selection = Selection()
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
            if model.vectors is not None:
                _known(f"models.{name}.vectors", model.vectors, self.vectors)
        for name in self.selection.models:
            _known("selection.models", name, self.models)
            if not self.models[name].trained:
                raise ValueError(f"selection.models: {name} is not trained, it has no settings")
        if self.selection.models and self.selection.subset not in self.subsets:
            raise ValueError(
                f"selection.subset: {self.selection.subset} is not among the subsets "
                f"{', '.join(self.subsets)}"
            )
        if self.selection.models and not self.selection.settings:
            raise ValueError("selection.settings: name at least one setting to choose")
        for name, changes in self.selection.settings.items():
            if name in (PAPER, CHOSEN):
                raise ValueError(f"selection.settings.{name}: this name is taken, choose another")
            _training_with(self.training, changes, ("selection", "settings", name))
        return self

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

    def training_of(self, setting: str) -> Training:
        """Return the training section with the changes of one setting laid over it."""
        return _training_with(self.training, self.selection.settings.get(setting, {}), (setting,))

    def p_of(self, model: str) -> int:
        return self.prototypes.p if self.models[model].needs_prototypes else 0

    def model_ids(self, subset: str) -> list[str]:
        """Return all the models run on a subset, the selected ones at each of their settings."""
        ids = list(self.models)
        for name in self.selection.models:
            if subset == self.selection.subset:
                ids += [name + SETTING_SEPARATOR + setting for setting in self.selection.settings]
            ids.append(name + SETTING_SEPARATOR + CHOSEN)
        return ids

    def cells(self) -> list[Cell]:
        """Return every cell that the tables and figures are made of."""
        cells = [
            Cell(model, dataset, subset, self.p_of(model.partition(SETTING_SEPARATOR)[0]))
            for dataset in self.datasets
            for subset in self.subsets
            for model in self.model_ids(subset)
        ]
        cells += [
            Cell(model, dataset, COMB, p)
            for dataset in self.datasets
            for model, settings in self.models.items()
            if settings.trained and settings.ranker == "analogy" and COMB in self.subsets
            for p in self.prototypes.curve
        ]
        return list(dict.fromkeys(cells))


def leave_out(config: Config, unavailable: dict[str, str]) -> Config:
    """Return the configuration without the models whose vectors cannot be had.

    `left_out` then tells the tables why. `unavailable` maps vectors to the reason.

    Raises AnalogyQAError when no model is left.
    """
    reasons = {
        name: unavailable[model.vectors]
        for name, model in config.models.items()
        if model.vectors in unavailable
    }
    models = {name: model for name, model in config.models.items() if name not in reasons}
    if not models:
        raise AnalogyQAError("\n".join(dict.fromkeys(reasons.values())))
    selected = [name for name in config.selection.models if name in models]
    selection = config.selection.model_copy(update={"models": selected})
    left_out = {**config.left_out, **reasons}
    return config.model_copy(
        update={"models": models, "selection": selection, "left_out": left_out}
    )


def selection_cells(config: Config, model: str, dataset: str) -> dict[str, Cell]:
    """Return the cell of each setting that `model` may choose from on `dataset`."""
    return {
        setting: Cell(
            model if setting == PAPER else model + SETTING_SEPARATOR + setting,
            dataset,
            config.selection.subset,
            config.p_of(model),
        )
        for setting in config.settings
    }


def load_config(values: dict, origin: str = "config") -> Config:
    """Check `values` and return them as a Config.

    A data set, vectors, model or setting that is null is left out: so one configuration file can
    take away what another, under it, has.

    Raises AnalogyQAError with one line for each wrong key: the key, the value given, what is
    allowed and, for an unknown key, the nearest known one.
    """
    values = dict(values)
    for section in ("datasets", "vectors", "models"):
        values[section] = _without_nulls(values.get(section, {}))
    if isinstance(selection := values.get("selection"), dict):
        settings = _without_nulls(selection.get("settings", {}))
        values["selection"] = {**selection, "settings": settings}
    try:
        return Config.model_validate(values)
    except ValidationError as error:
        lines = [_explain(Config, item) for item in error.errors()]
        raise AnalogyQAError("\n".join(f"{origin}: {line}" for line in lines)) from None


def _without_nulls(section: object) -> object:
    if not isinstance(section, dict):
        return section
    return {name: value for name, value in section.items() if value is not None}


def read_config(path: str | Path) -> Config:
    """Read a configuration file, laid over the repository's config.yaml as Snakemake lays it.

    Raises AnalogyQAError when the file cannot be read or has a wrong key.
    """
    values: dict = {}
    for file in dict.fromkeys([_REPOSITORY_CONFIG, Path(path).resolve()]):
        try:
            values = _laid_over(values, yaml.safe_load(file.read_text(encoding="utf-8")) or {})
        except (OSError, ValueError, AttributeError, yaml.YAMLError) as error:
            raise AnalogyQAError(f"{file}: cannot be read as a YAML mapping ({error})") from error
    return load_config(values, str(path))


def _laid_over(values: dict, changes: dict) -> dict:
    merged = dict(values)
    for key, value in changes.items():
        nested = isinstance(merged.get(key), dict) and isinstance(value, dict)
        merged[key] = _laid_over(merged[key], value) if nested else value
    return merged


def tracking_uri_of(config: Config) -> str:
    """Return the tracking URI, the default being an SQLite file in the output folder."""
    return config.tracking_uri or f"sqlite:///{Path(config.output_dir, 'mlflow.db')}"


def _known(key: str, name: str, known: dict) -> None:
    if name not in known:
        raise ValueError(f"{key}: {name!r} is not configured{_nearest(name, known)}")


def _training_with(training: Training, changes: dict, location: tuple[str, ...]) -> Training:
    try:
        return Training.model_validate(_laid_over(training.model_dump(), changes))
    except ValidationError as error:
        raise ValueError(
            "; ".join(_explain(Training, item, location) for item in error.errors())
        ) from None


def _explain(section: type[Section], error: dict, prefix: tuple[str, ...] = ()) -> str:
    location = [str(part) for part in error["loc"]]
    key = ".".join([*prefix, *location])
    if error["type"] == "extra_forbidden":
        known = _keys_at(section.model_json_schema(), location[:-1])
        return f"unknown key {key}{_nearest(location[-1], known)}"
    message = error["msg"].removeprefix("Value error, ")
    if not key:
        return message
    if error["type"] == "missing":
        return f"key {key} is missing"
    return f"{key}: {error['input']!r} is not allowed: {message}"


def _keys_at(schema: dict, location: list[str]) -> list[str]:
    """Return the known keys of the mapping at `location` of a JSON schema."""

    def resolve(node: dict) -> dict:
        for option in node.get("anyOf", []):
            if "$ref" in option:
                node = option
        while "$ref" in node:
            node = schema["$defs"][node["$ref"].rsplit("/", 1)[1]]
        return node

    node = schema
    for part in location:
        properties, others = node.get("properties", {}), node.get("additionalProperties")
        others = others or next(iter(node.get("patternProperties", {}).values()), {})
        node = resolve(properties.get(part, others))
    return list(node.get("properties", {}))


def _nearest(name: str, known: dict | list) -> str:
    match = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    hint = f"; did you mean {match[0]}?" if match else ""
    return f"{hint} Known: {', '.join(known)}" if hint else f"; known: {', '.join(known)}"
