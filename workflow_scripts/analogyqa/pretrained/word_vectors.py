"""Encoders that combine word vectors without weights of their own: SIF and DCT."""

from collections import Counter
from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from analogyqa.errors import AnalogyQAError
from analogyqa.text import tokenize
from analogyqa.vectors.files import known_vectors
from analogyqa.vectors.frequencies import sif_weight

if TYPE_CHECKING:
    from analogyqa.pretrained import Resources


def encode_sif(texts: Sequence[str], resources: "Resources") -> np.ndarray:
    """Encode n sentences as in Arora, Liang and Ma (2017), algorithm 1: float32 [n, d].

    A word has the weight A / (A + p), where p is its relative frequency in the training texts. A
    sentence is the mean of its weighted words minus the projection on the first singular vector of
    the training texts, or zero if no word has a vector. The authors take the singular vector of the
    sentences to be compared; we use only the training split.

    Raises AnalogyQAError as `select_vectors`, or when no word of the training texts has a vector.
    """
    sentences, training = (
        [tokenize(text, resources.lowercase) for text in part]
        for part in (texts, resources.training_texts)
    )
    vectors, rows = known_vectors(resources.vectors, chain(*sentences, *training))
    counts = Counter(chain(*training))
    for word, row in rows.items():
        vectors[row] *= np.float32(sif_weight(counts[word], counts.total()))
    fitted = _means(training, vectors, rows)
    if not fitted.any():
        raise AnalogyQAError(
            f"{resources.vectors}: none of the words of the training split is in this file, so sif "
            "cannot be fitted. Are the language and case right?"
        )
    shared = np.linalg.svd(fitted, full_matrices=False)[2][0]
    means = _means(sentences, vectors, rows)
    return means - np.outer(means @ shared, shared)


def _means(
    sentences: Sequence[Sequence[str]], vectors: np.ndarray, rows: dict[str, int]
) -> np.ndarray:
    """Average the vectors of each sentence's known words: float32 [n, d]."""
    means = np.zeros((len(sentences), vectors.shape[1]), dtype=np.float32)
    for mean, tokens in zip(means, sentences, strict=True):
        known = [rows[token] for token in tokens if token in rows]
        if known:
            mean[:] = vectors[known].mean(axis=0)
    return means


def encode_dct(texts: Sequence[str], resources: "Resources") -> np.ndarray:
    """Encode n sentences as in Almarwani et al. (2019), eq. 1 and 2: float32 [n, (k + 1) d].

    Coefficients 0 to k of each dimension are concatenated, with zeros where a sentence has fewer
    words. A cased word without a vector has that of its lower-case form; words without either are
    ignored. With k = 0, the vector is a multiple of the mean.

    Raises AnalogyQAError as `select_vectors`.
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
            # In sorted order, so that the same words have the same bits in any order.
            sentence_vector[0] = vectors[sorted(known)].sum(axis=0) / np.sqrt(len(known))
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
