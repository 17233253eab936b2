"""The systems: what turns sentences into vectors, how they are trained, and how they rank."""

from typing import Annotated, Literal

from pydantic import Field, SerializeAsAny, model_validator
from pydantic_core import PydanticCustomError

from analogyqa.encoders.specs import ENCODERS
from analogyqa.measures import RANKED
from analogyqa.objectives.specs import OBJECTIVES
from analogyqa.rankers.specs import RANKER_OVERRIDES, RANKERS, RankerSpec
from analogyqa.settings.base import (
    AT,
    NO_INPUT,
    Alternatives,
    Count,
    Joined,
    Section,
    WholeNumber,
)
from analogyqa.settings.options import Options, choice_of
from analogyqa.settings.vectors import VECTORS_OVERRIDES
from analogyqa.training.specs import OPTIMISERS


class Negatives(Section):
    """How wrong candidates become negative quadruples.

    `per: pair` draws `count` wrong candidates for each correct pair, and every prototype meets
    them; `per: question` draws `count` for each prototype and question. An objective that draws its
    own reads `count` alone: `mix` for each correct pair, `listwise` for each question.
    """

    draw: Literal["resampled", "fixed"] = "resampled"
    per: Literal["pair", "question"] = "pair"
    count: Annotated[WholeNumber, Field(ge=1, le=100)] = 1

    @property
    def file_stem(self) -> str:
        """The name of the training quadruples that are drawn so, without its suffix."""
        return f"train-{self.count}-per-{self.per}"


class Training(Section):
    """One way of training an encoder; the defaults are those of the CoNLL paper, where it has any.

    `loss` is a key of `OBJECTIVES`. The epoch with the best mean of `select_by` on dev is kept.
    `weight_averaging` is the decay of a moving average of the weights; 0 averages nothing.
    """

    loss: Literal[tuple(OBJECTIVES)] = "printed"  # type: ignore[valid-type]
    margin: float = Field(default=0.1, ge=-1, le=100)
    dropout: float = Field(default=0.5, ge=0, lt=1)
    dropout_place: Literal["word_vectors", "sentence_vector", "both"] = "word_vectors"
    dropout_mask: Literal["own", "shared"] = "own"
    optimiser: Literal[tuple(OPTIMISERS)] = "adam"  # type: ignore[valid-type]
    learning_rate: float = Field(default=0.001, gt=0, le=1)
    weight_decay: float = Field(default=0.01, ge=0, le=1)
    weight_decay_coupling: Literal["coupled", "decoupled"] = "coupled"
    sentence_dim: Annotated[WholeNumber, Field(ge=2, le=4096, multiple_of=2)] = 300
    batch_size: Count = 16
    max_epochs: Count = 20
    patience: Count = 4
    weight_averaging: float = Field(default=0, ge=0, lt=1)
    select_by: Literal[tuple(RANKED)] = "mrr"  # type: ignore[valid-type]
    negatives: Negatives = Negatives()


# The keys of a system that a cell can override.
_OF_WORDS = (*VECTORS_OVERRIDES, "shortest_word", "weighting")  # and of no encoder that learns
SYSTEM_OVERRIDES = (
    *("vectors", *_OF_WORDS, "sentence_vectors", "rewriting"),
    *(*RANKER_OVERRIDES, "p"),
)
_NEGATIVES = tuple(f"negatives.{name}" for name in Negatives.model_fields)
TRAINING_OVERRIDES = (
    tuple(name for name in Training.model_fields if name != "negatives") + _NEGATIVES
)


class System(Section):
    """One system: what turns sentences into vectors, and how these rank candidates.

    Args:
        title: as tables and figures call it.
        encoder: a key of `ENCODERS`, over the word vectors `vectors`.
        window, dim: of the word vectors, where they are trained on data sets.
        shortest_word: words of fewer characters are passed over.
        weighting: of the words of a sentence; `sif`: smooth inverse frequency (Arora et al. 2017).
        sentence_vectors: instead of an encoder; of a list the first that can be had.
        rewriting: what replaces the question word (Tam et al. 2017), if anything does.
        ranker: a key of `RANKERS`, alone or as the `name` beside its options.
        starts_from: the system whose training on all questions, of the same seed, gives the first
            weights of the encoder; in a file its name. It has no prototypes.
        scores_with: the averaged weights, where `training.weight_averaging` has such, or the last
            ones. Systems that differ in nothing else are trained once.
        p: prototypes of each question type, to compare with and to train with.
        only_costs: why only its costs are measured, and no scores.
        training: laid over the section `training` of the paper that the system is of.
    """

    title: str
    encoder: Literal[tuple(ENCODERS)] | None = None  # type: ignore[valid-type]
    vectors: str | None = None
    window: Count | None = None
    dim: Count | None = None
    shortest_word: Count = 1
    weighting: Literal["uniform", "sif"] = "uniform"
    sentence_vectors: Annotated[Alternatives | None, Joined] = None
    rewriting: Literal["entity", "prototype_word"] | None = None
    ranker: Annotated[SerializeAsAny[Options], choice_of("ranker", RANKERS)]
    starts_from: "System | None" = None
    scores_with: Literal["averaged", "last"] = "averaged"
    p: Count = 30
    only_costs: str = ""
    training: Training = Training()

    @model_validator(mode="before")
    @classmethod
    def _options_below_their_ranker(cls, values: object) -> object:
        for key in values if isinstance(values, dict) else ():
            if owners := [name for name, spec in RANKERS.items() if key in spec.options.names()]:
                text = f"{key} is an option of the ranker {' or '.join(owners)}: write ranker: "
                raise PydanticCustomError(NO_INPUT, text + f"{{name: {owners[0]}, {key}: ...}}")
        return values

    @model_validator(mode="after")
    def _fits_together(self) -> "System":
        alone = None if self.ranker_spec.needs_encoder else self.ranker.name
        kinds = [self.encoder, self.sentence_vectors, alone]
        if sum(kind is not None for kind in kinds) != 1:
            others = " or ".join(name for name, each in RANKERS.items() if not each.needs_encoder)
            raise ValueError(f"give one of encoder, sentence_vectors and ranker: {others}")
        fused = sum(map(len, self.parts.values()))
        if (self.ranker_spec.reads == "scores") != (fused >= 2):
            raise ValueError("ranker: fused goes with parts, two runs or more, and they with it")
        needed = self.encoder is not None and ENCODERS[self.encoder].needs_vectors
        if needed and self.vectors is None:
            raise ValueError(f"the encoder {self.encoder} needs vectors")
        if not needed and self.vectors is not None:
            raise ValueError(f"the encoder {self.encoder} reads no vectors")
        for name in _OF_WORDS if self.vectors is None or self.trained else ():
            if getattr(self, name) != type(self).model_fields[name].default:
                raise ValueError(f"{name}: of an encoder over word vectors that is not trained")
        if "training" in self.model_fields_set and not self.trained:
            raise ValueError("training: this system is not trained")
        alone = OBJECTIVES[self.training.loss].ranks_pairs
        if self.trained and alone and self.ranker_spec.needs_prototypes:
            loss = self.training.loss
            raise ValueError(
                f"the loss {loss} has no prototypes, which ranker: {self.ranker.name} needs"
            )
        if self.trained and self.ranker_spec.trained and not alone:
            fitting = " or ".join(name for name, each in OBJECTIVES.items() if each.ranks_pairs)
            raise ValueError(f"the ranker {self.ranker.name} needs loss: {fitting}")
        if self.ranker_spec.trained and not self.trained:
            raise ValueError(f"the ranker {self.ranker.name} is trained: give an encoder, too")
        if self.ranker_spec.fitted and self.trained:
            raise ValueError(
                f"the ranker {self.ranker.name} is fitted: the encoder must not be trained"
            )
        self._check_start()
        gives_words = self.encoder is not None and ENCODERS[self.encoder].gives_words
        if (self.ranker_spec.reads == "words") != gives_words:
            reading = [name for name, each in RANKERS.items() if each.reads == "words"]
            raise ValueError(
                f"encoder: words goes with ranker: {', '.join(reading)}, and they with it"
            )
        return self

    def _check_start(self) -> None:
        first = self.starts_from
        if first is None:
            return
        if not (self.trained and first.trained):
            raise ValueError("starts_from: both systems must be trained")
        if first.starts_from or first.needs_prototypes:
            raise ValueError("starts_from: a system without prototypes that starts from no other")
        for name, own, other in (
            ("encoder", self.encoder, first.encoder),
            ("vectors", self.vectors, first.vectors),
            ("training.sentence_dim", self.training.sentence_dim, first.training.sentence_dim),
        ):
            if own != other:
                raise ValueError(f"starts_from: a system with {name}: {own}, not {other}")

    @property
    def ranker_spec(self) -> RankerSpec:
        return RANKERS[self.ranker.name]

    @property
    def parts(self) -> dict[str, list[int]]:
        """The systems whose scores it fuses, each with the seeds of its runs; {} for none."""
        return getattr(self.ranker, "parts", {})

    @property
    def prototype_answers(self) -> str:
        """Whose answers the prototypes have: their `own`, or those of `others`."""
        return getattr(self.ranker, "prototype_answers", "own")

    @property
    def scoring_weights(self) -> str:
        """The kind of the weights that score: `averaged` or `last`."""
        return self.scores_with if self.training.weight_averaging else "last"

    def scientific(self) -> dict:
        """Return what of a system its scores depend on, besides p and its training section."""
        said = dict.fromkeys(["title", "only_costs"], True)
        return self.model_dump(exclude={"training": True, "p": True, "starts_from": said, **said})

    @property
    def word_vectors(self) -> str | None:
        """The name of its word vectors, with what it changes of them."""
        changed = {name: getattr(self, name) for name in VECTORS_OVERRIDES}
        overrides = [f"{name}={value}" for name, value in changed.items() if value is not None]
        return self.vectors and AT.join([self.vectors, *overrides])

    @property
    def fitted(self) -> bool:
        """Whether it is fitted to the sentences of the data set before it scores."""
        return self.ranker_spec.fitted or self.weighting != "uniform"

    @property
    def trained(self) -> bool:
        """Whether its encoder learns, or its ranker over an encoder that does not."""
        encoder = ENCODERS[self.encoder] if self.encoder else None
        return encoder is not None and (encoder.trained or self.ranker_spec.trained)

    @property
    def compares(self) -> bool:
        """Whether its ranker compares with prototypes."""
        return self.ranker_spec.needs_prototypes

    @property
    def learns_from_quadruples(self) -> bool:
        return self.trained and OBJECTIVES[self.training.loss].draws == "quadruples"

    @property
    def needs_prototypes(self) -> bool:
        """Prototypes are compared with; and training may learn from quadruples made of them."""
        return self.learns_from_quadruples or self.compares

    def reads(self, override: str) -> bool:
        """Return whether a setting changes what the system does."""
        if override == "p":
            return self.needs_prototypes
        if override in TRAINING_OVERRIDES:
            return self.trained
        if override in _OF_WORDS:
            return self.vectors is not None and not self.trained
        return override not in RANKER_OVERRIDES or override in self.ranker.overrides()


class Prototypes(Section):
    """What all systems of a paper have, unless one has its own: `p` prototypes of each type."""

    p: Count = 30
