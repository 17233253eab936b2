"""Encoders without training: means and sums of word vectors, and random vectors."""

import numpy as np

from analogyqa.settings.systems import Training
from analogyqa.vectors import unit


class MeanEncoder:
    """Averages the word vectors of a sentence: [n, d]. Empty sentences are zero.

    Means are float64 if the word vectors are, otherwise float32.
    """

    def __init__(self, word_vectors: np.ndarray, training: Training, seed: int) -> None:
        self.word_vectors = np.asarray(word_vectors)

    def __call__(self, words: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        inside = np.arange(words.shape[1]) < lengths[:, None]
        dtype = self.word_vectors.dtype
        total = np.einsum("ntd,nt->nd", self.word_vectors[words], inside.astype(dtype))
        return total / np.maximum(lengths, 1).astype(dtype)[:, None]


class SumEncoder(MeanEncoder):
    """Adds the word vectors of a sentence (Mikolov et al. 2013): [n, d]. Empty ones are zero."""

    def __call__(self, words: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        return super().__call__(words, lengths) * lengths.astype(np.float32)[:, None]


class UnitMeanEncoder(MeanEncoder):
    """Averages word vectors of unit length, so that all words count equally: [n, d].

    Rare words often have short vectors, which vanish in a mean with those of *the* and *in*.
    """

    def __init__(self, word_vectors: np.ndarray, training: Training, seed: int) -> None:
        super().__init__(unit(np.asarray(word_vectors)), training, seed)


class RandomEncoder:
    """Draws a normal vector for each sentence, a baseline for every ranker: [n, sentence_dim]."""

    def __init__(self, word_vectors: None, training: Training, seed: int) -> None:
        self.dim = training.sentence_dim
        self.generator = np.random.default_rng(seed)

    def __call__(self, words: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        return self.generator.standard_normal((len(words), self.dim), dtype=np.float32)
