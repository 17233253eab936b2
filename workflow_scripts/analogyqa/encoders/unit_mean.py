"""The mean of a sentence's word vectors, each of length 1."""

from typing import TYPE_CHECKING

import numpy as np

from analogyqa.encoders.mean import MeanEncoder
from analogyqa.vectors.unit import unit

if TYPE_CHECKING:
    from analogyqa.settings.systems import Training


class UnitMeanEncoder(MeanEncoder):
    """As the mean, of words that count alike: [n, d].

    The vectors of rare words are often short, and vanish in a mean with those of *the* and *in*.
    """

    def __init__(self, word_vectors: np.ndarray, training: "Training", seed: int) -> None:
        vectors = np.asarray(word_vectors, dtype=np.float32)
        super().__init__(unit(vectors), training, seed)
