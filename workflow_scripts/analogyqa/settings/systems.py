"""The systems: what turns sentences into vectors, how they are trained, and how they rank."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from analogyqa.measures import RANKED
from analogyqa.registry import ENCODERS, OBJECTIVES, OPTIMISERS, RANKERS
from analogyqa.settings.base import Alternatives, Count, Joined, Section, WholeNumber


class Negatives(Section):
    """How wrong candidates become negative quadruples.

    `per: pair` draws `count` wrong candidates for each correct pair, and every prototype meets
    them; `per: question` draws `count` for each prototype and question. An objective that draws its
    own, such as `mix`, reads `count` alone.
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
    select_by: Literal[tuple(RANKED)] = "mrr"  # type: ignore[valid-type]
    negatives: Negatives = Negatives()


# What of a system a cell may have otherwise.
SYSTEM_AXES = ("vectors", "sentence_vectors", "rewriting", "aggregate", "gradient", "p")
_NEGATIVES = tuple(f"negatives.{name}" for name in Negatives.model_fields)
TRAINING_AXES = tuple(name for name in Training.model_fields if name != "negatives") + _NEGATIVES


class System(Section):
    """One system: what turns sentences into vectors, and how these rank candidates.

    Args:
        title: as tables and figures call it.
        encoder: a key of `ENCODERS`, over the word vectors `vectors`.
        sentence_vectors: in place of an encoder; of a list the first that can be had.
        rewriting: what replaces the question word (Tam et al. 2017), if anything does.
        ranker: a key of `RANKERS`.
        aggregate: of the ranker `analogy`, over the prototypes.
        gradient: of the ranker `hyperbolic`, with respect to the points of the ball.
        p: prototypes of each question type, to compare with and to train with.
        only_costs: why only its costs are measured, and no scores.
        training: laid over the section `training` of the paper that the system is of.
    """

    title: str
    encoder: Literal[tuple(ENCODERS)] | None = None  # type: ignore[valid-type]
    vectors: str | None = None
    sentence_vectors: Annotated[Alternatives | None, Joined] = None
    rewriting: Literal["entity", "prototype_word"] | None = None
    ranker: Literal[tuple(RANKERS)]  # type: ignore[valid-type]
    aggregate: Literal["max", "mean", "question"] = "max"
    gradient: Literal["riemannian", "euclidean"] = "riemannian"
    p: Count = 30
    only_costs: str = ""
    training: Training = Training()

    @model_validator(mode="after")
    def _fits_together(self) -> "System":
        reads_text = RANKERS[self.ranker].reads_text
        kinds = [self.encoder, self.sentence_vectors, self.ranker if reads_text else None]
        if sum(kind is not None for kind in kinds) != 1:
            of_text = " or ".join(name for name, each in RANKERS.items() if each.reads_text)
            raise ValueError(f"give one of encoder, sentence_vectors and ranker: {of_text}")
        needed = self.encoder is not None and ENCODERS[self.encoder].needs_vectors
        if needed and self.vectors is None:
            raise ValueError(f"the encoder {self.encoder} needs vectors")
        if not needed and self.vectors is not None:
            raise ValueError(f"the encoder {self.encoder} reads no vectors")
        if "training" in self.model_fields_set and not self.trained:
            raise ValueError("training: this system is not trained")
        alone = OBJECTIVES[self.training.loss].ranks_pairs
        if self.trained and alone and RANKERS[self.ranker].needs_prototypes:
            loss = self.training.loss
            raise ValueError(
                f"the loss {loss} has no prototypes, which ranker: {self.ranker} needs"
            )
        if self.trained and RANKERS[self.ranker].trained and not alone:
            fitting = " or ".join(name for name, each in OBJECTIVES.items() if each.ranks_pairs)
            raise ValueError(f"the ranker {self.ranker} needs loss: {fitting}")
        if RANKERS[self.ranker].trained and not self.trained:
            raise ValueError(f"the ranker {self.ranker} is trained: give an encoder, too")
        gives_words = self.encoder is not None and ENCODERS[self.encoder].gives_words
        if RANKERS[self.ranker].reads_words != gives_words:
            reading = [name for name, each in RANKERS.items() if each.reads_words]
            raise ValueError(
                f"encoder: words goes with ranker: {', '.join(reading)}, and they with it"
            )
        return self

    def scientific(self) -> dict:
        """Return what of a system its scores depend on, besides p and its training section."""
        return self.model_dump(exclude={"title", "training", "p", "only_costs"})

    @property
    def trained(self) -> bool:
        """Whether its encoder learns, or its ranker over an encoder that does not."""
        encoder = ENCODERS[self.encoder] if self.encoder else None
        return encoder is not None and (encoder.trained or RANKERS[self.ranker].trained)

    @property
    def compares(self) -> bool:
        """Whether its ranker compares with prototypes."""
        return RANKERS[self.ranker].needs_prototypes

    @property
    def learns_from_quadruples(self) -> bool:
        return self.trained and OBJECTIVES[self.training.loss].draws == "quadruples"

    @property
    def needs_prototypes(self) -> bool:
        """Prototypes are compared with; and training may learn from quadruples made of them."""
        return self.learns_from_quadruples or self.compares

    def reads(self, axis: str) -> bool:
        """Return whether a setting changes what the system does."""
        if axis == "p":
            return self.needs_prototypes
        if axis in TRAINING_AXES:
            return self.trained
        optional = {option for entry in RANKERS.values() for option in entry.options}
        return axis not in optional or axis in RANKERS[self.ranker].options


class Prototypes(Section):
    """What all systems of a paper have, unless one has its own: `p` prototypes of each type."""

    p: Count = 30
