"""The systems: what turns sentences into vectors, how they are trained, and how they rank."""

from typing import Annotated, Literal

from pydantic import (
    Field,
    model_validator,
)

from analogyqa.question_types import SUBSETS
from analogyqa.registry import ENCODERS
from analogyqa.settings.base import Alternatives, Count, Section, WholeNumber


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
