"""The systems: what turns sentences into vectors, how they are trained, and how they rank."""

from functools import cache
from operator import attrgetter
from typing import Annotated, Any, Literal, Union

from pydantic import (
    BeforeValidator,
    Field,
    SerializeAsAny,
    WithJsonSchema,
    create_model,
    model_validator,
)
from pydantic_core import PydanticCustomError

from analogyqa.encoders.specs import ENCODERS, EncoderSpec
from analogyqa.measures import RANKED
from analogyqa.objectives.specs import OBJECTIVES, QUADRUPLES, ObjectiveSpec
from analogyqa.rankers.specs import RANKERS, RankerSpec
from analogyqa.settings.base import (
    AT,
    NO_INPUT,
    Alternatives,
    Count,
    Entries,
    Joined,
    OneOf,
    Options,
    Overridable,
    Section,
    WholeNumber,
    nearest_hint,
    override_paths,
)
from analogyqa.settings.vectors import VECTORS_OVERRIDES
from analogyqa.training.specs import OPTIMISERS


class Negatives(Section):
    """How wrong candidates become negative quadruples.

    `per: pair` draws `count` for each correct pair and combines them with every prototype; `per:
    question` draws them for each prototype and question, `listwise` for each question. `mix` takes,
    for each correct pair, `random` ones and the `hardest` of `count` further ones; `mix_coded`
    takes the `hardest` of all, and `random` others.
    """

    draw: Literal["resampled", "fixed"] = "resampled"
    """Whether quadruples are drawn again in each epoch."""
    per: Literal["pair", "question"] = "pair"
    """What `count` is for."""
    count: Annotated[WholeNumber, Field(ge=1, le=100)] = 1
    """The number of wrong candidates that are drawn."""
    random: Annotated[WholeNumber, Field(ge=0, le=100)] = 1
    """The number of random ones, for `mix` and `mix_coded`."""
    hardest: Annotated[WholeNumber, Field(ge=0, le=100)] = 1
    """The number of hardest ones, for `mix` and `mix_coded`."""

    @model_validator(mode="after")
    def _check_counts(self) -> "Negatives":
        if not self.random + self.hardest:
            raise ValueError("random or hardest must be at least 1")
        return self

    @property
    def file_stem(self) -> str:
        """The name of the file of training quadruples, without its suffix."""
        return f"train-{self.count}-per-{self.per}"


class Training(Section):
    """How an encoder is trained; the defaults are those of the CoNLL paper, if it states them."""

    loss: Annotated[str, OneOf(OBJECTIVES)] = "printed"
    """A key of `OBJECTIVES`."""
    margin: float = Field(default=0.1, ge=-1, le=100)
    """The margin of the loss, in the unit of the energies."""
    dropout: float = Field(default=0.5, ge=0, lt=1)
    """The share of values that dropout sets to 0."""
    dropout_place: Literal["word_vectors", "sentence_vector", "both"] = "word_vectors"
    """What dropout is applied to."""
    dropout_mask: Literal["own", "shared"] = "own"
    """Whether each sentence has its `own` mask, or all sentences of a batch share one."""
    optimiser: Annotated[str, OneOf(OPTIMISERS)] = "adam"
    """A key of `OPTIMISERS`."""
    learning_rate: float = Field(default=0.001, gt=0, le=1)
    """The learning rate of the optimiser."""
    weight_decay: float = Field(default=0.01, ge=0, le=1)
    """The factor of the L2 penalty."""
    clip_norm: float = Field(default=1, gt=0)
    """The largest norm of each parameter's gradient, for `adagrad_coded` and `adagrad_clipped`."""
    weight_decay_coupling: Literal["coupled", "decoupled"] = "coupled"
    """Whether the penalty is part of the gradient, or not (AdamW)."""
    sentence_dim: Annotated[WholeNumber, Field(ge=2, le=4096, multiple_of=2)] = 300
    """The dimension of sentence vectors."""
    batch_of: Literal["questions", "quadruples"] = "questions"
    """`questions`: a batch has all quadruples of `batch_size` questions of one type; `quadruples`:
    it has `batch_size` quadruples of any questions."""
    batch_size: Count = 16
    """The size of a batch, in the unit that the loss draws (questions, quadruples, pairs)."""
    max_epochs: Count = 20
    """The largest number of epochs."""
    patience: Count = 4
    """The number of epochs without a better dev score after which training ends."""
    weight_averaging: float = Field(default=0, ge=0, lt=1)
    """The decay of a moving average of the weights; 0 for no averaging."""
    select_by: Annotated[str, OneOf(RANKED)] = "mrr"
    """The measure whose mean on dev selects the epoch."""
    keeps: Literal["best", "last"] = "best"
    """Whether the epoch that is best on dev scores test, or the last one of `max_epochs`."""
    padded_length: Count | None = None
    """The number of words to which `bigru` cuts or pads each sentence, with zero vectors that it
    reads like words; null reads each sentence in its own length."""
    precision: Literal["float32", "bfloat16"] = "float32"
    """The precision of the matrix products of `bigru` on a CPU; all else stays float32."""
    negatives: Negatives = Negatives()
    """How wrong candidates are drawn."""


# The keys of systems whose encoder is not trained.
_OF_WORDS = (*VECTORS_OVERRIDES, "shortest_word", "weighting")


@cache
def _any_options() -> type[Options]:
    """Return a section with the options of all rankers."""
    classes = dict.fromkeys(spec.options for spec in RANKERS.values() if spec.options != Options)
    return create_model("AnyOptions", __base__=tuple(classes) or Options)


def _read_ranker(value: object) -> Options:
    """Return the options of a ranker that is named, alone or with its options."""
    if isinstance(value, Options):
        return value
    values = {"name": value} if isinstance(value, str) else value
    if not isinstance(values, dict):
        raise ValueError("give the name of a ranker, or a mapping of its name and its options")
    if "name" not in values:  # an error, and so is a wrong value of any option
        return _any_options().model_validate(values)
    name = str(values["name"])
    if name not in RANKERS:
        raise ValueError(f"no ranker {name!r}{nearest_hint(name, RANKERS)}")
    for key in values:
        if key not in RANKERS[name].options.model_fields:
            raise PydanticCustomError(NO_INPUT, _unknown_option(name, str(key)))
    return RANKERS[name].options.model_validate(values)


_RANKER_IN_A_FILE: Any = Union[
    Literal[tuple(RANKERS)], *dict.fromkeys(spec.options for spec in RANKERS.values())
]
Ranker = Annotated[
    SerializeAsAny[Options],
    BeforeValidator(_read_ranker, json_schema_input_type=_RANKER_IN_A_FILE),
]


def _unknown_option(name: str, option: str) -> str:
    owners = [other for other, spec in RANKERS.items() if option in spec.options.names()]
    if owners:
        hint = f"; it is an option of {', '.join(owners)}"
    elif known := RANKERS[name].options.names():
        hint = nearest_hint(option, known)
    else:
        hint = "; this ranker has no options"
    return f"the ranker {name} has no option {option!r}{hint}"


class System(Section):
    """One system: what turns sentences into vectors, and how these rank candidates."""

    title: str
    """The name in tables and figures."""
    encoder: Overridable[Annotated[str, OneOf(ENCODERS)] | None] = None
    """A key of `ENCODERS`."""
    vectors: Overridable[str | None] = None
    """The word vectors that the encoder reads."""
    window: Overridable[Count | None] = None
    """Overrides this key of word2vec vectors."""
    dim: Overridable[Count | None] = None
    """Overrides this key of word2vec vectors."""
    shortest_word: Overridable[Count] = 1
    """The number of characters below which words are ignored."""
    weighting: Overridable[Literal["uniform", "sif", "log_inverse"]] = "uniform"
    """The weights of words: `sif` is smooth inverse frequency (Arora et al. 2017), `log_inverse`
    the logarithm of the inverse frequency."""
    sentence_vectors: Overridable[Annotated[Alternatives | None, Joined]] = None
    """Sentence vectors instead of an encoder; the first available ones of a list are used."""
    rewriting: Overridable[Literal["entity", "prototype_word"] | None] = None
    """What replaces the question word (Tam et al. 2017)."""
    ranker: Ranker
    """A key of `RANKERS`, or a mapping of its `name` and options."""
    starts_from: Annotated["System | None", WithJsonSchema({"type": "string"})] = None
    """The system, trained on all questions, whose encoder gives the initial weights; its name."""
    scores_with: Literal["averaged", "last"] = "averaged"
    """The weights that score if `training.weight_averaging` is set. Systems that differ only in
    this share a training run."""
    p: Overridable[Count] = 30
    """The number of prototypes of each question type, in training and in comparisons."""
    only_costs: str | Entries[str] = ""
    """Why only its costs are measured, and no scores; a mapping for some data sets alone."""
    most_seeds: Count | None = None
    """The largest number of seeds, for a system that takes long to train."""
    training: Overridable[Training] = Training()
    """Changes of the section `training` of its paper."""

    @model_validator(mode="before")
    @classmethod
    def _options_below_their_ranker(cls, values: object) -> object:
        for key in values if isinstance(values, dict) else ():
            if key in cls.model_fields:
                continue
            if owners := [name for name, spec in RANKERS.items() if key in spec.options.names()]:
                text = f"{key} is an option of the ranker {' or '.join(owners)}: write ranker: "
                raise PydanticCustomError(NO_INPUT, text + f"{{name: {owners[0]}, {key}: ...}}")
        return values

    @model_validator(mode="after")
    def _fits_together(self) -> "System":
        self._check_inputs()
        self._check_loss()
        self._check_ranker()
        if self.starts_from:
            self._check_start(self.starts_from)
        return self

    def _check_inputs(self) -> None:
        ranker, encoder = self.ranker_spec, self.encoder_spec
        name = None if ranker.needs_encoder else self.ranker.name
        if sum(given is not None for given in (self.encoder, self.sentence_vectors, name)) != 1:
            others = " or ".join(key for key, spec in RANKERS.items() if not spec.needs_encoder)
            raise ValueError(f"give one of encoder, sentence_vectors and ranker: {others}")
        if (ranker.reads == "scores") != (sum(map(len, self.parts.values())) >= 2):
            raise ValueError("ranker: fused needs parts of at least two runs; others have no parts")
        needs_vectors = encoder is not None and encoder.needs_vectors
        if needs_vectors != (self.vectors is not None):
            needs = "needs" if needs_vectors else "reads no"
            raise ValueError(f"the encoder {self.encoder} {needs} vectors")
        for key in _OF_WORDS if self.vectors is None or self.trained else ():
            if getattr(self, key) != type(self).model_fields[key].default:
                raise ValueError(f"{key}: only for an encoder of words that is not trained")

    def _check_loss(self) -> None:
        ranker, objective = self.ranker_spec, self.objective
        name, loss = self.ranker.name, self.training.loss
        if not self.trained:
            if "training" in self.model_fields_set:
                raise ValueError("training: this system is not trained")
            return
        if objective.ranks_pairs and ranker.needs_prototypes:
            raise ValueError(f"the loss {loss} has no prototypes, which ranker: {name} needs")
        if objective.reads_distances and not ranker.has_distances:
            raise ValueError(f"the loss {loss} needs distances, which ranker: {name} does not have")
        if objective.compares_vectors and ranker.reads != "vectors":
            raise ValueError(f"the loss {loss} needs a ranker of sentence vectors, not {name}")
        if ranker.trained and not objective.ranks_pairs:
            fitting = " or ".join(key for key, spec in OBJECTIVES.items() if spec.ranks_pairs)
            raise ValueError(f"the ranker {name} needs loss: {fitting}")

    def _check_ranker(self) -> None:
        ranker, encoder, name = self.ranker_spec, self.encoder_spec, self.ranker.name
        if ranker.trained and not self.trained:
            raise ValueError(f"the ranker {name} is trained, so it also needs an encoder")
        if ranker.fitted and self.trained:
            raise ValueError(f"the ranker {name} is fitted, so the encoder must not be trained")
        if (ranker.reads == "words") != (encoder is not None and encoder.gives_words):
            reading = ", ".join(key for key, spec in RANKERS.items() if spec.reads == "words")
            raise ValueError(f"encoder: words and ranker: {reading} need each other")

    def _check_start(self, first: "System") -> None:
        if not (self.trained and first.trained):
            raise ValueError("starts_from: both systems must be trained")
        if first.starts_from or first.needs_prototypes:
            limits = "without prototypes that does not start from another"
            raise ValueError(f"starts_from: give a system {limits}")
        for name in ("encoder", "vectors", "training.sentence_dim"):
            value, needed = (attrgetter(name)(system) for system in (self, first))
            if value != needed:
                first_has = f"{needed}, as in the system it starts from"
                raise ValueError(f"{name} must be {first_has}, not {value}")

    @property
    def ranker_spec(self) -> RankerSpec:
        return RANKERS[self.ranker.name]

    @property
    def encoder_spec(self) -> EncoderSpec | None:
        return ENCODERS[self.encoder] if self.encoder else None

    @property
    def encoder_name(self) -> str:
        """The key of its encoder: the mean for sentence vectors, each of which is one word."""
        return self.encoder or "mean"

    @property
    def objective(self) -> ObjectiveSpec:
        return OBJECTIVES[self.training.loss]

    @property
    def parts(self) -> dict[str, list[int]]:
        """The systems whose scores are fused, with the seeds of their runs."""
        return getattr(self.ranker, "parts", {})

    @property
    def prototype_answers(self) -> str:
        """Whether prototypes have their `own` answers, or those of `others`."""
        return getattr(self.ranker, "prototype_answers", "own")

    @property
    def scoring_weights(self) -> str:
        """The version of the weights that scores: `averaged` or `last`."""
        return self.scores_with if self.training.weight_averaging else "last"

    def only_costs_on(self, dataset: str) -> str:
        """Return why only its costs are measured on a data set; "" if its scores are, too."""
        reason = self.only_costs
        return reason if isinstance(reason, str) else reason.get(dataset, "")

    def scientific(self) -> dict:
        """Return the values that its scores depend on, besides p and its training section."""
        texts = {"title", "only_costs", "most_seeds"}
        values = self.model_dump(exclude={"training", "p", "starts_from"} | texts)
        first = self.starts_from and self.starts_from.model_dump(exclude=texts)
        return values | {"starts_from": first}

    @property
    def vectors_changes(self) -> dict[str, int]:
        """The keys of its word vectors that it replaces."""
        values = ((name, getattr(self, name)) for name in VECTORS_OVERRIDES)
        return {name: value for name, value in values if value is not None}

    @property
    def word_vectors(self) -> str | None:
        """The name of its word vectors, with the keys of theirs that it replaces."""
        overrides = [f"{name}={value}" for name, value in self.vectors_changes.items()]
        return self.vectors and AT.join([self.vectors, *overrides])

    @property
    def fitted(self) -> bool:
        """Whether it is fitted to the sentences of the data set before scoring."""
        return self.ranker_spec.fitted or self.weighting != "uniform"

    @property
    def trained(self) -> bool:
        """Whether its encoder is trained, or its ranker over the vectors of an encoder."""
        encoder = self.encoder_spec
        return encoder is not None and (encoder.trained or self.ranker_spec.trained)

    @property
    def has_precision(self) -> bool:
        return self.encoder_spec is not None and self.encoder_spec.has_precision

    @property
    def compares(self) -> bool:
        return self.ranker_spec.needs_prototypes

    @property
    def learns_from_quadruples(self) -> bool:
        return self.trained and self.objective.draws == QUADRUPLES

    @property
    def needs_prototypes(self) -> bool:
        """Whether it compares with prototypes, or learns from quadruples made of them."""
        return self.learns_from_quadruples or self.compares

    def reads(self, path: str) -> bool:
        """Return whether an override, given by the path of its key, can change the scores."""
        if path == "p":
            return self.needs_prototypes
        if path == "training.precision":
            return self.has_precision
        if path in _OF_WORDS:
            return self.vectors is not None and not self.trained
        section, _, key = path.partition(".")
        if section == "training":
            return self.trained
        return section != "ranker" or key in override_paths(type(self.ranker))


class Prototypes(Section):
    """The default of `p` for the systems of a paper."""

    p: Count = 30
    """The number of prototypes of each question type."""
