"""The mean of a sentence's word vectors."""

import numpy as np

from analogyqa.settings.systems import Training


class MeanEncoder:
    """Averages the word vectors of a sentence: [n, d]. Empty sentences are zero.

    Means are float64 if the word vectors are, otherwise float32.
    """

    def __init__(self, word_vectors: np.ndarray, training: Training, seed: int) -> None:
        self.word_vectors = np.asarray(word_vectors)

    def __call__(self, words: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        """Encode word ids [n, t] with lengths [n]."""
        inside = np.arange(words.shape[1]) < lengths[:, None]
        dtype = self.word_vectors.dtype
        total = np.einsum("ntd,nt->nd", self.word_vectors[words], inside.astype(dtype))
        return total / np.maximum(lengths, 1).astype(dtype)[:, None]
