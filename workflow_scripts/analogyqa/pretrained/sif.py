"""Smooth inverse frequency: weighted means of word vectors less what all sentences share."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from analogyqa.errors import AnalogyQAError
from analogyqa.text import tokenize
from analogyqa.vectors.select import select_vectors, vocabulary_of

if TYPE_CHECKING:
    from analogyqa.pretrained import Resources

A = 1e-3


def encode(texts: Sequence[str], resources: "Resources") -> np.ndarray:
    """Encode n sentences as in Arora, Liang and Ma 2017, algorithm 1: float32 [n, d].

    A word weighs A / (A + p(word)), where p is its share of the tokens of the training texts. A
    sentence is the mean of its weighted words, less its projection on the first singular vector of
    the training texts; the zero vector where no word has a vector. The authors take the singular
    vector from the sentences to be compared; here no other split is looked at.

    Raises:
        AnalogyQAError: as `select_vectors`, or when no word of the training texts has a vector.
    """
    training, lowercase = resources.training_texts, resources.lowercase
    vocabulary = vocabulary_of([*texts, *training], lowercase)
    vectors, found = select_vectors(resources.vectors, vocabulary, "zero")
    counts = Counter(token for text in training for token in tokenize(text, lowercase))
    tokens = max(counts.total(), 1)
    weights = [A / (A + counts[word] / tokens) for word in vocabulary]
    weighted = vectors * np.array(weights, dtype=np.float32)[:, None]
    rows = {word: row for row, word in enumerate(vocabulary) if found[row]}

    fitted = _means(training, weighted, rows, lowercase)
    if not fitted.any():
        raise AnalogyQAError(
            f"{resources.vectors}: none of the words of the training split is in this file, so "
            "sif has nothing to be fitted on. Is it of the right language and case?"
        )
    shared = np.linalg.svd(fitted, full_matrices=False)[2][0]
    means = _means(texts, weighted, rows, lowercase)
    return means - np.outer(means @ shared, shared)


def _means(
    texts: Sequence[str], weighted: np.ndarray, rows: dict[str, int], lowercase: bool
) -> np.ndarray:
    """Average the weighted vectors of each sentence's known words: float32 [n, d]."""
    means = np.zeros((len(texts), weighted.shape[1]), dtype=np.float32)
    for mean, text in zip(means, texts, strict=True):
        known = [rows[token] for token in tokenize(text, lowercase) if token in rows]
        if known:
            mean[:] = weighted[known].mean(axis=0)
    return means
