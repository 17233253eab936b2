"""The sum of a sentence's word vectors (Mikolov et al. 2013)."""

import numpy as np

from analogyqa.encoders.mean import MeanEncoder


class SumEncoder(MeanEncoder):
    """Adds the word vectors of a sentence: [n, d]. Empty sentences are zero."""

    def __call__(self, words: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        """Encode word ids [n, t] with lengths [n]."""
        return super().__call__(words, lengths) * lengths.astype(np.float32)[:, None]
