"""The pre-trained sentence encoders: functions that return float32 [n, d]."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from analogyqa.errors import AnalogyQAError
from analogyqa.pretrained.specs import PRETRAINED

if TYPE_CHECKING:
    import numpy as np


class Resources(NamedTuple):
    """What a pre-trained encoder reads.

    Args:
        weights: the encoder's own file, or the name or folder of a model; "" for none.
        vectors: a file of word vectors that `analogyqa.vectors.files.select_vectors` reads, or "".
        training_texts: the sentences of the data set's training split, which `sif` fits on.
        lowercase: whether the encoder or its word vectors are lower-cased.
        options: the values of the options in its specification.
    """

    weights: str
    vectors: str
    training_texts: Sequence[str]
    lowercase: bool
    options: Mapping[str, int | str] = MappingProxyType({})


class LocalModel(Protocol):
    """A model in a folder of this machine, which is loaded by `LocalModel(resources)`."""

    file: str  # which its folder contains

    def encode(self, texts: Sequence[str]) -> "np.ndarray":
        """Encode n sentences: float32 [n, d]."""
        ...

    def unread(self, text: str) -> int:
        """Return how many tokens of a sentence are beyond the longest input, and are not read."""
        ...


def local_class(encoder: str) -> Any:
    """Return the class of an encoder that is a `LocalModel`; None if it encodes no new texts."""
    model = PRETRAINED[encoder].model
    return model and model.load()


def store_sentences(
    parts: Iterable[Sequence[str]],
    settings: dict[str, Any],
    resources: Resources,
    origin: str,
    path: str | Path,
) -> None:
    """Encode sentences and store their vectors, as `vectors.store.write_store` does.

    The record also has what it takes to encode new texts: the settings, and the hash of the model.

    Args:
        parts: The sentences, encoded one part after the other: the last bits of a vector depend on
            the sentences in its batch.
        settings: The section of the configuration, with `options` and `lowercase`.
        resources: What the encoder reads.
        origin: Where the vectors come from, for the record.
        path: The .npy file.

    Raises AnalogyQAError as `encode_sentences`.
    """
    import numpy as np

    from analogyqa.vectors.store import write_store

    encoder, parts = settings["encoder"], [part for part in parts if part]
    vectors = np.concatenate([encode_sentences(encoder, part, resources) for part in parts])
    sentences, is_found = [*chain(*parts)], np.ones(len(vectors), dtype=bool)
    model = _model_record(encoder, resources.weights)
    write_store(vectors, is_found, sentences, origin, path, settings, model=model)


def _model_record(encoder: str, weights: str) -> dict[str, str] | None:
    """Return the name of a `LocalModel` and the hash of its files; None for another encoder."""
    from analogyqa.pretrained.hugging_face import find_model, hash_model

    model = local_class(encoder)
    folder = find_model(weights, model.file) if model else None
    return {"name": weights, "sha256": hash_model(folder)} if folder else None


def encode_sentences(name: str, texts: Sequence[str], resources: Resources) -> "np.ndarray":
    """Return the vectors of n sentences by a registered encoder: float32 [n, d].

    Raises AnalogyQAError for a resource that the encoder cannot read, a vector that is not finite,
    or vectors that are all the same.
    """
    import numpy as np

    entry = PRETRAINED[name]
    vectors = entry.load()(texts, resources)
    if vectors.dtype != np.float32 or vectors.ndim != 2 or len(vectors) != len(texts):
        raise TypeError(
            f"{entry.path} returned {vectors.dtype} {list(vectors.shape)}, "
            f"not float32 [{len(texts)}, d]"
        )
    file = resources.weights or resources.vectors
    is_finite = np.isfinite(vectors).all(axis=1)
    if not is_finite.all():
        text = texts[int(is_finite.argmin())]
        raise AnalogyQAError(
            f"{name}: the vector of {text[:60]!r} has a value that is not finite; is {file} "
            "damaged?"
        )
    if len(set(texts)) > 1 and (vectors == vectors[0]).all():
        raise AnalogyQAError(
            f"{name}: all {len(set(texts))} sentences have the same vector; is {file} damaged, or "
            "for another language?"
        )
    return vectors
