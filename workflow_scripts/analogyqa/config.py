"""The configuration: every key, its type and its limits, checked before any job starts."""

import difflib
from functools import cache
from itertools import product
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from pydantic import (
    AfterValidator,
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
from analogyqa.errors import AnalogyQAError, shown
from analogyqa.folders import folder_name
from analogyqa.pretrained import PRETRAINED
from analogyqa.question_types import COMB, SUBSETS
from analogyqa.yaml_files import read_yaml, require_few_values

PAPER = "paper"
CHOSEN = "chosen"
MOST_SEEDS = 10_000
_REPOSITORY_CONFIG = Path(__file__).parents[2] / "config.yaml"
SETTING_SEPARATOR = "+"
SETTING_PART = "."

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")]
Folder = Annotated[str, AfterValidator(folder_name)]


def _number(value: object) -> object:
    """Return the number that a text stands for: inside braces `--config` knows texts only."""
    return int(value) if isinstance(value, str) and value.isdecimal() else value


# Strict: the YAML values true and false are not the numbers 1 and 0.
WholeNumber = Annotated[int, BeforeValidator(_number), Field(strict=True)]
Count = Annotated[WholeNumber, Field(ge=1, le=1_000_000_000)]
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
    alternatives of which the first available is taken. Of the splits in `drop_all_correct` the
    questions whose candidates are all correct are left out, as in the "clean" TrecQA.
    `prototype_choice` says what is shuffled to choose prototypes: see `choose_prototypes`.
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
    drop_all_correct: list[Literal["train", "dev", "test"]] = []
    prototype_choice: Literal["pair", "question"] = "pair"

    @field_validator("questions", mode="before")
    @classmethod
    def _unchecked(cls, questions: object) -> object:
        """Null: another configuration file's counts do not hold for this data."""
        return {} if questions is None else questions


class Vectors(Section):
    """Word vectors, either read from a file or trained here with fastText.

    `lowercase` is the configuration's where it is null.
    """

    source: Alternatives | None = None
    train_on: Alternatives | None = None
    dim: Annotated[WholeNumber, Field(ge=1, le=2000)] = 300
    epochs: Count = 5
    min_count: Count = 5
    out_of_vocabulary: Literal["random", "zero", "subword"] = "random"
    lowercase: bool | None = None

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


class SentenceVectors(Section):
    """Sentence vectors of a pre-trained encoder, computed once for each sentence.

    Args:
        encoder: a key of `PRETRAINED`.
        weights: the encoder's file, as a split of a data set; for `sentence_transformers` the name
            or the folder of a model.
        train_on, dev_on: files of natural language inference to train `infersent` on here instead,
            each with its alternatives.
        lstm_dim: of an `infersent` trained here, for each direction.
        vectors: the word vectors that the encoder reads.
        lowercase: the configuration's where it is null.
    """

    encoder: Literal[tuple(PRETRAINED)]  # type: ignore[valid-type]
    weights: Alternatives | None = None
    train_on: list[Alternatives] | None = None
    dev_on: list[Alternatives] | None = None
    lstm_dim: Annotated[WholeNumber, Field(ge=1, le=4096)] = 2048
    vectors: str | None = None
    lowercase: bool | None = None

    @model_validator(mode="after")
    def _what_the_encoder_reads(self) -> "SentenceVectors":
        entry = PRETRAINED[self.encoder]
        trained = self.train_on is not None
        if trained and (self.encoder != "infersent" or self.weights or not self.dev_on):
            raise ValueError("train_on is for the encoder infersent without weights, with dev_on")
        if entry.needs_weights and not trained and self.weights is None:
            raise ValueError(f"the encoder {self.encoder} needs weights")
        if entry.needs_vectors != (self.vectors is not None):
            needs = "needs" if entry.needs_vectors else "reads no"
            raise ValueError(f"the encoder {self.encoder} {needs} vectors")
        return self


class NamedEntities(Section):
    """Who finds the names, places and dates that replace a question word.

    Args:
        model: a spaCy model (an installed package, or a path: as it is, below resources_dir or a
            mirror) or a file of entity patterns; of a list the first that is there.
        vectors: the word vectors that entities and candidates are compared by.
    """

    model: Alternatives
    vectors: str


class Negatives(Section):
    """How wrong candidates become negative quadruples.

    `per: pair` draws `count` wrong candidates for each correct pair, and every prototype meets
    them; `per: question` draws `count` for each prototype and question.
    """

    draw: Literal["resampled", "fixed"] = "resampled"
    per: Literal["pair", "question"] = "pair"
    count: Annotated[WholeNumber, Field(ge=1, le=100)] = 1

    @property
    def file_stem(self) -> str:
        """The name of the training quadruples that are drawn so, without its suffix."""
        return f"train-{self.count}-per-{self.per}"


class Training(Section):
    """One way of training an encoder; the defaults are the paper's, as far as it states them."""

    loss: Literal["printed", "hinge", "lwda", "lwda_distance", "pairwise"] = "printed"
    margin: float = Field(default=0.1, ge=-1, le=100)
    dropout: float = Field(default=0.5, ge=0, lt=1)
    dropout_place: Literal["word_vectors", "sentence_vector", "both"] = "word_vectors"
    learning_rate: float = Field(default=0.001, gt=0, le=1)
    weight_decay: float = Field(default=0.01, ge=0, le=1)
    weight_decay_coupling: Literal["coupled", "decoupled"] = "coupled"
    sentence_dim: Annotated[WholeNumber, Field(ge=2, le=4096, multiple_of=2)] = 300
    batch_size: Count = 16
    max_epochs: Count = 20
    patience: Count = 4
    negatives: Negatives = Negatives()


class Model(Section):
    """One system: what turns sentences into vectors, and how these rank candidates.

    Args:
        title: as tables and figures call it.
        encoder: a key of `ENCODERS`, over the word vectors `vectors`.
        sentence_vectors: in place of an encoder; of a list the first that can be had.
        rewriting: what replaces the question word (Tam et al. 2017), if anything does.
        ranker: `analogy` with prototypes, `cosine` of question and candidate, or `bm25`, which
            needs no vectors.
        aggregate: over the prototypes.
        training: laid over the section `training` for this model.
        subsets: that it is run on; null for all.
    """

    title: str
    encoder: Literal[tuple(ENCODERS)] | None = None  # type: ignore[valid-type]
    vectors: str | None = None
    sentence_vectors: Alternatives | None = None
    rewriting: Literal["entity", "prototype_word"] | None = None
    ranker: Literal["analogy", "cosine", "bm25"]
    aggregate: Literal["max", "mean"] = "max"
    training: dict = {}
    subsets: list[Literal[SUBSETS]] | None = None  # type: ignore[valid-type]

    @model_validator(mode="after")
    def _one_kind_of_vectors(self) -> "Model":
        kinds = [self.encoder, self.sentence_vectors, self.ranker == "bm25" or None]
        if sum(kind is not None for kind in kinds) != 1:
            raise ValueError("give one of encoder, sentence_vectors and ranker: bm25")
        needed = self.encoder is not None and ENCODERS[self.encoder].needs_vectors
        if needed and self.vectors is None:
            raise ValueError(f"the encoder {self.encoder} needs vectors")
        if not needed and self.vectors is not None:
            raise ValueError(f"the encoder {self.encoder} reads no vectors")
        if self.training and not self.trained:
            raise ValueError("training: this model is not trained")
        return self

    def scientific(self) -> dict:
        """Return what of a model its scores depend on, besides its training section."""
        return self.model_dump(exclude={"title", "training", "subsets"})

    @property
    def trained(self) -> bool:
        return self.encoder is not None and ENCODERS[self.encoder].trained

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


class Variation(Section):
    """An open choice of the paper taken otherwise: changes of one of these sections."""

    training: dict = {}
    model: dict = {}
    dataset: dict = {}

    @model_validator(mode="after")
    def _changes_something(self) -> "Variation":
        if not (self.training or self.model or self.dataset):
            raise ValueError("change something: training, model or dataset")
        return self


class Sensitivity(Section):
    """The open choices, each varied alone around the paper's setting on one subset.

    `datasets` is null for all of them.
    """

    subset: Literal[SUBSETS] = COMB  # type: ignore[valid-type]
    datasets: list[str] | None = None
    models: list[str] = []
    axes: dict[Name, dict[Name, Variation]] = {}

    def variations(self) -> dict[str, Variation]:
        """Return all variations, by the name that ids of models and data sets carry."""
        return {
            axis + SETTING_PART + value: variation
            for axis, values in self.axes.items()
            for value, variation in values.items()
        }


class Bootstrap(Section):
    """The intervals: seeds and questions resampled together."""

    samples: Annotated[WholeNumber, Field(ge=100, le=1_000_000)] = 2000
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
        if value > MOST_SEEDS:
            raise ValueError(f"at most {MOST_SEEDS:,} seeds can be asked for")
        return list(range(value))
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
                _known(f"sentence_vectors.{name}.vectors", stored.vectors, self.vectors)
        if self.named_entities:
            _known("named_entities.vectors", self.named_entities.vectors, self.vectors)
        return self

    @model_validator(mode="after")
    def _settings_fit(self) -> "Config":
        for section, names, subset in (
            ("selection", self.selection.models, self.selection.subset),
            ("sensitivity", self.sensitivity.models, self.sensitivity.subset),
        ):
            for name in names:
                _known(f"{section}.models", name, self.models)
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
            _laid_over_section(self.training, changes, ("selection", "settings", name))
        for name in self.sensitivity.datasets or []:
            _known("sensitivity.datasets", name, self.datasets)
        for name, variation in self.sensitivity.variations().items():
            location = ("sensitivity", "axes", *name.split(SETTING_PART, 1))
            _laid_over_section(self.training, variation.training, (*location, "training"))
            for dataset in self.datasets.values():
                _laid_over_section(dataset, variation.dataset, (*location, "dataset"))
            for model in map(self.models.__getitem__, self.sensitivity.models):
                changed = _laid_over_section(model, variation.model, (*location, "model"))
                self._check_model(".".join((*location, "model")), changed)
        return self

    def _check_model(self, key: str, model: Model) -> None:
        if model.vectors is not None:
            _known(f"{key}.vectors", model.vectors, self.vectors)
        for name in model.sentence_vectors or []:
            _known(f"{key}.sentence_vectors", name, self.sentence_vectors)
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
        training = _laid_over_section(self.training, own, ("models", model, "training"))
        variation = self.sensitivity.variations().get(setting)
        changes = variation.training if variation else self.selection.settings.get(setting, {})
        return _laid_over_section(training, changes, (setting,))

    def model_of(self, model_id: str) -> Model:
        """Return a model, with what the variation in its id changes."""
        name, setting = split_id(model_id)
        variation = self.sensitivity.variations().get(setting)
        changes = variation.model if variation else {}
        return _laid_over_section(self.models[name], changes, (model_id,))

    def dataset_of(self, dataset_id: str) -> Dataset:
        """Return a data set, with what the variation in its id changes.

        What is dropped is not counted any more, so a changed data set expects no counts.
        """
        name, setting = split_id(dataset_id)
        if setting == PAPER:
            return self.datasets[name]
        changes = self.sensitivity.variations()[setting].dataset
        dataset = _laid_over_section(self.datasets[name], changes, (dataset_id,))
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


def _model_ids(config: Config, subset: str) -> list[str]:
    """Return all the models run on a subset, the selected ones at each of their settings."""
    names = [name for name in config.models if subset in config.subsets_of(name)]
    ids = list(names)
    for name in filter(names.__contains__, config.selection.models):
        if subset == config.selection.subset:
            ids += [join_id(name, setting) for setting in config.selection.settings]
        ids.append(join_id(name, CHOSEN))
    return ids


def cells_of(config: Config) -> list[Cell]:
    """Return every cell that the tables and figures are made of."""
    cells = [
        Cell(model, dataset, subset, config.p_of(split_id(model)[0]))
        for dataset in config.datasets
        for subset in config.subsets
        for model in _model_ids(config, subset)
    ]
    cells += [
        Cell(model, dataset, COMB, p)
        for dataset in config.datasets
        for model, settings in config.models.items()
        if settings.trained and settings.ranker == "analogy" and COMB in config.subsets_of(model)
        for p in config.prototypes.curve
    ]
    return list(dict.fromkeys(cells))


def sensitivity_cells(config: Config) -> dict[tuple[str, str, str], Cell]:
    """Return the cell of (model, data set, variation), the variation `paper` being none.

    A variation that `left_out` names has none. Where one changes nothing in what a model does
    or in a data set, the paper's is taken.
    """
    cells = {}
    for model, dataset, name in product(
        config.sensitivity.models, config.varied_datasets, [PAPER, *config.sensitivity.variations()]
    ):
        model_id, dataset_id = join_id(model, name), join_id(dataset, name)
        if model_id in config.left_out:
            continue
        if _effective(config, model_id) == _effective(config, model):
            model_id = model
        if _read(config, dataset_id) == _read(config, dataset):
            dataset_id = dataset
        p = config.p_of(model)
        cells[model, dataset, name] = Cell(model_id, dataset_id, config.sensitivity.subset, p)
    return cells


def _effective(config: Config, model_id: str) -> tuple[dict, Training]:
    """Return what a model does: only analogy aggregates, and has both sides."""
    does, training = config.model_of(model_id).scientific(), config.training_of(*split_id(model_id))
    if does["ranker"] != "analogy":
        del does["aggregate"]
        if training.loss == "lwda":
            training = training.model_copy(update={"loss": "printed"})
    return does, training


def _read(config: Config, dataset_id: str) -> dict:
    """Return how a data set is read, besides the counts that it is checked against."""
    return config.dataset_of(dataset_id).model_dump(exclude={"questions"})


def join_id(name: str, setting: str) -> str:
    """Return the id of a model or data set at a setting."""
    return name if setting == PAPER else name + SETTING_SEPARATOR + setting


def split_id(identifier: str) -> tuple[str, str]:
    """Return what `join_id` joined: name and setting."""
    name, _, setting = identifier.partition(SETTING_SEPARATOR)
    return name, setting or PAPER


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


def selection_cells(config: Config, model: str, dataset: str) -> dict[str, Cell]:
    """Return the cell of each setting that `model` may choose from on `dataset`."""
    return {
        setting: Cell(
            join_id(model, setting),
            dataset,
            config.selection.subset,
            config.p_of(model),
        )
        for setting in config.settings
    }


def load_config(values: dict, origin: str = "config") -> Config:
    """Check `values` and return them as a Config.

    A data set, vectors, model, setting or variation that is null is left out: so one configuration
    file can take away what another, under it, has.

    Raises AnalogyQAError with one line for each wrong key: the key, the value given, what is
    allowed and, for an unknown key, the nearest known one.
    """
    require_few_values(values, origin)
    values = dict(values)
    for section in ("datasets", "vectors", "sentence_vectors", "models"):
        values[section] = _without_nulls(values.get(section, {}))
    if isinstance(selection := values.get("selection"), dict):
        settings = _without_nulls(selection.get("settings", {}))
        values["selection"] = {**selection, "settings": settings}
    if isinstance(sensitivity := values.get("sensitivity"), dict):
        axes = _without_nulls(sensitivity.get("axes", {}))
        if isinstance(axes, dict):
            axes = {axis: _without_nulls(choices) for axis, choices in axes.items()}
        values["sensitivity"] = {**sensitivity, "axes": axes}
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
        values = _laid_over(values, read_yaml(file))
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


def _laid_over_section(section: Section, changes: dict, location: tuple[str, ...]) -> Section:
    """Return `section` with `changes`; `location` is for the message of a ValueError."""
    kind = type(section)
    try:
        return kind.model_validate(_laid_over(section.model_dump(exclude_unset=True), changes))
    except ValidationError as error:
        raise ValueError(
            "; ".join(_explain(kind, item, location) for item in error.errors())
        ) from None


def _explain(section: type[Section], error: dict, prefix: tuple[str, ...] = ()) -> str:
    location = [str(part) for part in error["loc"]]
    key = ".".join([*prefix, *location])
    if error["type"] == "extra_forbidden":
        known = _keys_at(_schema_of(section), location[:-1])
        return f"unknown key {key}{_nearest(location[-1], known)}"
    message = error["msg"].removeprefix("Value error, ")
    if not key:
        return message
    if error["type"] == "missing":
        return f"key {key} is missing"
    return f"{key}: {shown(error['input'])} is not allowed: {message}"


@cache
def _schema_of(section: type[Section]) -> dict:
    return section.model_json_schema()


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
