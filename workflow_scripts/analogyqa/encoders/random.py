"""Random sentence vectors, as a baseline for every ranker."""

import numpy as np

from analogyqa.settings.systems import Training


class RandomEncoder:
    """Draws a vector for each sentence from a normal distribution: [n, sentence_dim]."""

    def __init__(self, word_vectors: None, training: Training, seed: int) -> None:
        self.dim = training.sentence_dim
        self.generator = np.random.default_rng(seed)

    def __call__(self, words: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        """Return n random vectors, whatever the words."""
        return self.generator.standard_normal((len(words), self.dim), dtype=np.float32)
