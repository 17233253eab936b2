"""Word vectors, sentence vectors, and who finds named entities."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from analogyqa.registry import PRETRAINED
from analogyqa.settings.base import Alternatives, Count, Name, Section, WholeNumber
from analogyqa.settings.data import Split

# What of vectors that are trained on data sets a system may change.
VECTORS_OVERRIDES = ("dim", "window")


class Vectors(Section):
    """Word vectors, read from a file or trained here.

    Args:
        source: a file of vectors.
        train_on: text files that fastText is trained on.
        corpora: data sets, with their splits, whose questions and candidates word2vec is trained
            on: skip-gram with hierarchical softmax.
        lemmas: of `corpora`, whether the vectors are of lemmas. A system that reads them sees the
            content words of a sentence; the section `lemmas` says which these are.
        window: of `corpora`, words on each side.
        lowercase: the configuration's where it is null.
    """

    source: Alternatives | None = None
    train_on: Alternatives | None = None
    corpora: (
        Annotated[dict[Name, Annotated[list[Split], Field(min_length=1)]], Field(min_length=1)]
        | None
    ) = None
    lemmas: bool = False
    window: Annotated[WholeNumber, Field(ge=1, le=1000)] = 5
    dim: Annotated[WholeNumber, Field(ge=1, le=2000)] = 300
    epochs: Count = 5
    min_count: Count = 5
    out_of_vocabulary: Literal["random", "zero", "subword"] = "random"
    lowercase: bool | None = None

    @model_validator(mode="after")
    def _one_origin(self) -> "Vectors":
        if sum(origin is not None for origin in (self.source, self.train_on, self.corpora)) != 1:
            raise ValueError("give one of source (a file), train_on (a text) and corpora")
        if self.source and set(self.model_fields_set) & {"dim", "epochs", "min_count"}:
            raise ValueError("dim, epochs and min_count belong to train_on; a source has its own")
        if not self.corpora and set(self.model_fields_set) & {"lemmas", "window"}:
            raise ValueError("lemmas and window belong to corpora")
        if self.corpora and self.out_of_vocabulary == "subword":
            raise ValueError("subword needs a fastText .bin file or train_on")
        # Of a registered source the file is known later, when select_vectors checks it.
        readable = all(name.endswith(".bin") or "/" not in name for name in self.source or [])
        if self.out_of_vocabulary == "subword" and not readable:
            raise ValueError("subword needs a fastText .bin file or train_on")
        return self


class SentenceVectors(Section):
    """Sentence vectors of a pre-trained encoder, computed once for each sentence.

    Args:
        encoder: a key of `PRETRAINED`.
        weights: the encoder's file, as a split of a data set; for `sentence_transformers` and
            `hugging_face` the name or the folder of a model.
        train_on, dev_on: files of natural language inference to train `infersent` on here instead,
            each with its alternatives.
        lstm_dim: of an `infersent` trained here, for each direction.
        vectors: the word vectors that the encoder reads.
        lowercase: the configuration's where it is null.
        pooling: of `hugging_face`: the vector of the first token, or the mean of all.
        k: of `dct`: the last coefficient.
    """

    encoder: Literal[tuple(PRETRAINED)]  # type: ignore[valid-type]
    weights: Alternatives | None = None
    train_on: list[Alternatives] | None = None
    dev_on: list[Alternatives] | None = None
    lstm_dim: Annotated[WholeNumber, Field(ge=1, le=4096)] = 2048
    vectors: str | None = None
    lowercase: bool | None = None
    pooling: Literal["cls", "avg"] = "avg"
    k: Annotated[WholeNumber, Field(ge=0, le=100)] = 0

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
        if foreign := self.model_fields_set & {"pooling", "k"} - {*entry.options}:
            raise ValueError(f"the encoder {self.encoder} has no {' and no '.join(foreign)}")
        return self

    @property
    def options(self) -> dict[str, object]:
        """What of it is the matter of its encoder alone."""
        return {name: getattr(self, name) for name in PRETRAINED[self.encoder].options}


class NamedEntities(Section):
    """Who finds the names, places and dates that replace a question word.

    Args:
        model: a spaCy model (an installed package, or a path: as it is, below resources_dir or a
            mirror) or a file of entity patterns; of a list the first that is there.
        vectors: the word vectors that entities and candidates are compared by.
        labels: question type to the labels of the entities that it asks for.
    """

    model: Alternatives
    vectors: str
    labels: dict[Name, list[str]]


class Lemmas(Section):
    """Who finds lemmas, and which of them are content words.

    Args:
        model: a spaCy model, as in `NamedEntities`.
        keep: their parts of speech (UPOS); stop words are none.
    """

    model: Alternatives
    keep: Annotated[list[str], Field(min_length=1)]
