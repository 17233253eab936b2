"""The systems: what turns sentences into vectors, how they are trained, and how they rank."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from analogyqa.encoders.specs import ENCODERS
from analogyqa.measures import RANKED
from analogyqa.objectives.specs import OBJECTIVES
from analogyqa.rankers.specs import RANKERS
from analogyqa.settings.base import (
    AT,
    Alternatives,
    Count,
    Joined,
    JoinedOrEmpty,
    Name,
    Section,
    WholeNumber,
)
from analogyqa.settings.data import Split
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


class Mapping(Section):
    """How both sentences of a pair come into one space before they are compared by cosine.

    It is what Artetxe et al. (2016) do to the words of two languages.

    Args:
        normalise: steps in their order: `unit`, to length 1, and `centre`, less the mean.
        mean_of: the splits whose sentences the mean is taken over, once each.
        learned_from: the splits whose correct pairs the matrix is learned from; empty for none.
        direction: which side of a pair the matrix is to bring onto the other; with `both` each pair
            counts in both directions.
        side: which sides are multiplied when they are compared, `source` or both.
        orthogonal: whether the matrix is; else it is that of least squares.
        negatives: `lowest` gives a cosine that is not positive the lowest score, 0.
    """

    normalise: Annotated[list[Literal["unit", "centre"]], JoinedOrEmpty] = []
    mean_of: Annotated[list[Split], Joined, Field(min_length=1)] = ["train"]
    learned_from: Annotated[list[Split], JoinedOrEmpty] = []
    direction: Literal["to_candidate", "to_question", "both"] = "to_candidate"
    side: Literal["source", "both"] = "both"
    orthogonal: bool = True
    negatives: Literal["kept", "lowest"] = "kept"


def _own_seed(parts: object) -> object:
    return {name: [0] for name in parts} if isinstance(parts, list) else parts


# System to which of its seeds: 0 is the own one of a run, 1 the next in the list, around its end.
Parts = Annotated[
    dict[Name, Annotated[list[WholeNumber], Field(min_length=1)]], BeforeValidator(_own_seed)
]


# What of a system a cell may have otherwise.
_MAPPING = tuple(f"mapping.{name}" for name in Mapping.model_fields)
_OF_WORDS = (*VECTORS_OVERRIDES, "shortest_word", "weighting")  # and of no encoder that learns
SYSTEM_OVERRIDES = (
    *("vectors", *_OF_WORDS, "sentence_vectors", "rewriting"),
    *("aggregate", "prototype_answers", "gradient", "last_layer", "components", *_MAPPING),
    *("fusion", "p"),
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
        ranker: a key of `RANKERS`.
        aggregate: of the ranker `analogy`, over the prototypes.
        prototype_answers: of the ranker `analogy`, those of the prototypes' own questions, or
            `others`: each question of a type has the answer of another one of it.
        gradient: of the ranker `hyperbolic`, with respect to the points of the ball.
        last_layer: of the ranker `hyperbolic`, what its score is linear in: the distance, or the
            distance and both vectors.
        mapping, components: of the ranker `mapped`, the second how many of the first singular
            vectors of the training sentences are removed.
        parts, fusion: of the ranker `fused`, the systems whose scores it fuses, and how. A list of
            systems takes the own seed of each.
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
    ranker: Literal[tuple(RANKERS)]  # type: ignore[valid-type]
    aggregate: Literal["max", "mean", "question"] = "max"
    prototype_answers: Literal["own", "others"] = "own"
    gradient: Literal["riemannian", "euclidean"] = "riemannian"
    last_layer: Literal["distance", "concatenated"] = "distance"
    mapping: Mapping = Mapping()
    components: Annotated[WholeNumber, Field(ge=0, le=1000)] = 0
    parts: Parts = {}
    fusion: Literal["equal", "logistic", "listwise", "reciprocal_rank"] = "equal"
    starts_from: "System | None" = None
    scores_with: Literal["averaged", "last"] = "averaged"
    p: Count = 30
    only_costs: str = ""
    training: Training = Training()

    @model_validator(mode="after")
    def _fits_together(self) -> "System":
        alone = None if RANKERS[self.ranker].needs_encoder else self.ranker
        kinds = [self.encoder, self.sentence_vectors, alone]
        if sum(kind is not None for kind in kinds) != 1:
            others = " or ".join(name for name, each in RANKERS.items() if not each.needs_encoder)
            raise ValueError(f"give one of encoder, sentence_vectors and ranker: {others}")
        fused = sum(map(len, self.parts.values()))
        if (RANKERS[self.ranker].reads == "scores") != (fused >= 2):
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
        if RANKERS[self.ranker].fitted and self.trained:
            raise ValueError(f"the ranker {self.ranker} is fitted: the encoder must not be trained")
        self._check_start()
        gives_words = self.encoder is not None and ENCODERS[self.encoder].gives_words
        if (RANKERS[self.ranker].reads == "words") != gives_words:
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
        return RANKERS[self.ranker].fitted or self.weighting != "uniform"

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

    def reads(self, override: str) -> bool:
        """Return whether a setting changes what the system does."""
        if override == "p":
            return self.needs_prototypes
        if override in TRAINING_OVERRIDES:
            return self.trained
        if override in _OF_WORDS:
            return self.vectors is not None and not self.trained
        name = override.partition(".")[0]
        optional = {option for entry in RANKERS.values() for option in entry.options}
        return name not in optional or name in RANKERS[self.ranker].options


class Prototypes(Section):
    """What all systems of a paper have, unless one has its own: `p` prototypes of each type."""

    p: Count = 30
