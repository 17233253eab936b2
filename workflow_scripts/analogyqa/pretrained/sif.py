"""Smooth inverse frequency: weighted means of word vectors, minus a common direction."""

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


def encode(texts: Sequence[str], resources: "Resources") -> np.ndarray:
    """Encode n sentences as in Arora, Liang and Ma (2017), algorithm 1: float32 [n, d].

    A word has the weight A / (A + p), where p is its relative frequency in the training texts. A
    sentence is the mean of its weighted words minus the projection on the first singular vector of
    the training texts, or zero if no word has a vector. The authors take the singular vector of the
    sentences to be compared; we use only the training split.

    Raises:
        AnalogyQAError: as `select_vectors`, or when no word of the training texts has a vector.
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
