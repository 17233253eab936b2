"""The mean of a sentence's word vectors."""

import numpy as np

from analogyqa.settings.systems import Training


class MeanEncoder:
    """Averages the word vectors of a sentence: [n, d]. Empty sentences are zero."""

    def __init__(self, word_vectors: np.ndarray, training: Training, seed: int) -> None:
        self.word_vectors = np.asarray(word_vectors, dtype=np.float32)

    def __call__(self, words: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        """Encode word ids [n, t] with lengths [n]."""
        inside = np.arange(words.shape[1]) < lengths[:, None]
        total = np.einsum("ntd,nt->nd", self.word_vectors[words], inside.astype(np.float32))
        return total / np.maximum(lengths, 1).astype(np.float32)[:, None]
