"""Encode a sentence by a discrete cosine transform of its word vectors."""

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from analogyqa.text import tokenize
from analogyqa.vectors.files import known_vectors

if TYPE_CHECKING:
    from analogyqa.pretrained import Resources


def encode(texts: Sequence[str], resources: "Resources") -> np.ndarray:
    """Encode n sentences as in Almarwani et al. (2019), eq. 1 and 2: float32 [n, (k + 1) d].

    Coefficients 0 to k of each dimension are concatenated, with zeros where a sentence has fewer
    words. A cased word without a vector has that of its lower-case form; words without either are
    ignored. With k = 0, the vector is a multiple of the mean.

    Raises:
        AnalogyQAError: as `select_vectors`.
    """
    sentences = [tokenize(text, resources.lowercase) for text in texts]
    words = {*chain(*sentences)}
    vectors, rows = known_vectors(resources.vectors, words | {word.lower() for word in words})
    rows = {word: rows[word.lower()] for word in words if word.lower() in rows} | rows
    count = int(resources.options["k"]) + 1
    encoded = np.zeros((len(texts), count, vectors.shape[1]), dtype=np.float32)
    for sentence_vector, tokens in zip(encoded, sentences, strict=True):
        known = [rows[token] for token in tokens if token in rows]
        if known:
            sentence_vector[:] = coefficients(len(known), count) @ vectors[known]
    return encoded.reshape(len(texts), -1)


def coefficients(words: int, count: int) -> np.ndarray:
    """Return the first rows of the orthonormal DCT-II of `words` values: [count, words].

    Rows beyond `words` are 0.
    """
    order, position = np.arange(count)[:, None], np.arange(words)
    rows = np.sqrt(2 / words) * np.cos(np.pi / words * (position + 0.5) * order)
    rows[0] = np.sqrt(1 / words)
    rows[words:] = 0
    return rows.astype(np.float32)
