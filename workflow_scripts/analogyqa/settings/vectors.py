"""Word vectors, sentence vectors, named entities and lemmas."""

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from analogyqa.pretrained.specs import PRETRAINED
from analogyqa.settings.base import (
    Alternatives,
    Count,
    Entries,
    Name,
    OneOf,
    Overridable,
    Section,
    Split,
    WholeNumber,
    override_paths,
)

SEED = "seed"


class Vectors(Section):
    """Word vectors: read from a file, or trained here."""

    source: Alternatives | None = None
    """The file of the vectors."""
    train_on: Alternatives | None = None
    """Text files on which fastText is trained."""
    corpora: (
        Annotated[dict[Name, Annotated[list[Split], Field(min_length=1)]], Field(min_length=1)]
        | None
    ) = None
    """Data sets, with the splits on which word2vec is trained, once for each seed."""
    texts: Alternatives | None = None
    """Text files on which word2vec is trained instead."""
    model: Literal["skip_gram", "cbow"] = "skip_gram"
    """`skip_gram` with hierarchical softmax and negative samples, or `cbow` without the former."""
    lemmas: bool = False
    """Whether word2vec is trained on lemmas, as `texts` already are. Systems with such vectors read
    only content words, see the section `lemmas`."""
    frequencies: Alternatives | None = None
    """A file of words and their counts for `weighting`, instead of those in training sentences."""
    window: Overridable[Annotated[WholeNumber, Field(ge=1, le=1000)]] = 5
    """The number of context words on each side for word2vec."""
    dim: Overridable[Annotated[WholeNumber, Field(ge=1, le=2000)]] = 300
    """The dimension of vectors that are trained here."""
    epochs: Count = 5
    """The passes over the text, for vectors that are trained here."""
    min_count: Count = 5
    """How often a word must occur, for vectors that are trained here."""
    out_of_vocabulary: Literal["random", "zero", "subword"] = "random"
    """The vectors of unknown words."""
    lowercase: bool | None = None
    """Whether words are lower-cased; null for the value of the whole configuration."""
    seed: WholeNumber = 0
    """The seed of word2vec, that of the run."""

    @property
    def is_word2vec(self) -> bool:
        """Whether word2vec is trained, with one result for each seed."""
        return bool(self.corpora or self.texts)

    @model_validator(mode="after")
    def _check_origin(self) -> "Vectors":
        origins = (self.source, self.train_on, self.corpora, self.texts)
        if sum(origin is not None for origin in origins) != 1:
            raise ValueError("give exactly one of source (a file), train_on, corpora and texts")
        if self.source and set(self.model_fields_set) & {"dim", "epochs", "min_count"}:
            raise ValueError("dim, epochs and min_count are only for vectors that are trained here")
        if not self.is_word2vec and self.model_fields_set & {"lemmas", "window", "model", "seed"}:
            raise ValueError("lemmas, window, model and seed belong to corpora or texts")
        # The file of a registered source is not known yet; select_vectors checks it.
        readable = all(name.endswith(".bin") or "/" not in name for name in self.source or [])
        if self.out_of_vocabulary == "subword" and (self.is_word2vec or not readable):
            raise ValueError("subword needs a fastText .bin file or train_on")
        return self


# The keys of vectors trained on data sets that a system has, too.
VECTORS_OVERRIDES = tuple(sorted(override_paths(Vectors)))


class SentenceVectors(Section):
    """Sentence vectors of a pre-trained encoder, computed once for each sentence."""

    encoder: Annotated[str, OneOf(PRETRAINED)]
    """A key of `PRETRAINED`."""
    weights: Alternatives | None = None
    """The encoder's file, given like a split of a data set; or the name or folder of a model, for
    `sentence_transformers` and `hugging_face`."""
    train_on: list[Alternatives] | None = None
    """Files of natural language inference on which `infersent` is trained here instead."""
    dev_on: list[Alternatives] | None = None
    """The files on which this `infersent` is validated."""
    disjoint_from: Name | None = None
    """A data set of relations. Pairs with one of its sentences are left out of that training."""
    lstm_dim: Annotated[WholeNumber, Field(ge=1, le=4096)] = 2048
    """The number of states per direction of an `infersent` that is trained here."""
    vectors: str | None = None
    """The word vectors that the encoder reads."""
    lowercase: bool | None = None
    """Whether words are lower-cased; null for the value of the whole configuration."""
    pooling: Literal["cls", "avg"] = "avg"
    """Whether `hugging_face` takes the vector of the first token or the mean of all."""
    special_tokens: Literal["counted", "left_out", "absent"] = "left_out"
    """Whether that mean counts special tokens ([CLS]), or the model does not even read them."""
    k: Annotated[WholeNumber, Field(ge=0, le=100)] = 0
    """The last coefficient that `dct` keeps."""

    @model_validator(mode="after")
    def _check_encoder_inputs(self) -> "SentenceVectors":
        spec = PRETRAINED[self.encoder]
        trained = self.train_on is not None
        if trained and (self.encoder != "infersent" or self.weights or not self.dev_on):
            raise ValueError("train_on is only for infersent, needs dev_on, and excludes weights")
        if self.disjoint_from and not trained:
            raise ValueError("disjoint_from is only for an encoder with train_on")
        if spec.needs_weights and not trained and self.weights is None:
            raise ValueError(f"the encoder {self.encoder} needs weights")
        if spec.needs_vectors != (self.vectors is not None):
            needs = "needs" if spec.needs_vectors else "reads no"
            raise ValueError(f"the encoder {self.encoder} {needs} vectors")
        options = {"pooling", "special_tokens", "k"} - {*spec.options}
        self.refuse(options, f"the encoder {self.encoder}")
        return self

    @property
    def options(self) -> dict[str, Any]:
        """The keys that only its encoder reads, with their values."""
        return {name: getattr(self, name) for name in PRETRAINED[self.encoder].options}


class NamedEntities(Section):
    """The model that finds the names, places and dates that replace a question word."""

    model: Alternatives
    """A spaCy model (a package, a source, or a path, also below resources_dir or a mirror) or a
    file of entity patterns. The first of a list that is here is used, or else the first source."""
    vectors: str
    """The word vectors with which entities and candidates are compared."""
    labels: Entries[list[str]]
    """The entity labels that each question type asks for."""


class Lemmas(Section):
    """The model that finds lemmas, and which of them are content words."""

    model: Alternatives
    """A spaCy model, as in `named_entities`."""
    keep: Annotated[list[str], Field(min_length=1)]
    """The parts of speech (UPOS) of content words; stop words are never kept."""
    stop_words: Alternatives | None = None
    """A file of stop words, one on each line, instead of the model's; compared with lemmas."""
