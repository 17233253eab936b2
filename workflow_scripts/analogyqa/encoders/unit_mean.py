"""The mean of a sentence's word vectors, scaled to unit length."""

import numpy as np

from analogyqa.encoders.mean import MeanEncoder
from analogyqa.settings.systems import Training
from analogyqa.vectors import unit


class UnitMeanEncoder(MeanEncoder):
    """Averages word vectors of unit length, so that all words count equally: [n, d].

    Rare words often have short vectors, which vanish in a mean with those of *the* and *in*.
    """

    def __init__(self, word_vectors: np.ndarray, training: Training, seed: int) -> None:
        super().__init__(unit(np.asarray(word_vectors)), training, seed)
