"""The first coefficients of a discrete cosine transform over a sentence's word vectors."""

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from analogyqa.text import tokenize
from analogyqa.vectors.select import known_vectors

if TYPE_CHECKING:
    from analogyqa.pretrained import Resources


def encode(texts: Sequence[str], resources: "Resources") -> np.ndarray:
    """Encode n sentences as in Almarwani et al. 2019, eq. 1 and 2: float32 [n, (k + 1) d].

    The coefficients 0 to k of each dimension are concatenated; of a sentence with fewer words those
    that it does not have are 0. With k = 0 it is the sum of its words over the root of their
    number, whose cosines are those of their mean. Words without a vector are left out.

    Raises AnalogyQAError as `select_vectors`.
    """
    sentences = [tokenize(text, resources.lowercase) for text in texts]
    vectors, rows = known_vectors(resources.vectors, chain(*sentences))
    count = int(resources.options["k"]) + 1
    encoded = np.zeros((len(texts), count, vectors.shape[1]), dtype=np.float32)
    for own, tokens in zip(encoded, sentences, strict=True):
        known = [rows[token] for token in tokens if token in rows]
        if known:
            own[:] = coefficients(len(known), count) @ vectors[known]
    return encoded.reshape(len(texts), -1)


def coefficients(words: int, count: int) -> np.ndarray:
    """Return the first rows of the orthonormal transform (DCT-II) of so many words, [count, words].

    Rows that so few words do not have are 0.
    """
    order, place = np.arange(count)[:, None], np.arange(words)
    rows = np.sqrt(2 / words) * np.cos(np.pi / words * (place + 0.5) * order)
    rows[0] = np.sqrt(1 / words)
    rows[words:] = 0
    return rows.astype(np.float32)
