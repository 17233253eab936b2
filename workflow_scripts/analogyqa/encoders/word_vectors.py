"""Frozen word vectors, and the dropout and layers that encoders over them share."""

from typing import Literal

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from analogyqa.settings.systems import Training


class Dropout(nn.Module):
    """Dropout of vectors [..., dim] at one place in an encoder, if `dropout_place` includes it.

    With `dropout_mask: own`, each word or sentence of a batch has its own mask. With `shared`, all
    share one mask, so that both sides of a pair lose the same coordinates.
    """

    def __init__(
        self, training: Training, place: Literal["word_vectors", "sentence_vector"]
    ) -> None:
        super().__init__()
        self.rate = training.dropout if training.dropout_place in (place, "both") else 0.0
        self.shared = training.dropout_mask == "shared"

    @property
    def acts(self) -> bool:
        return self.training and self.rate > 0

    def forward(self, x: Tensor) -> Tensor:
        if not self.acts:
            return x
        # F.dropout is five times slower on the CPU.
        mask = x.new_empty(x.shape[-1:] if self.shared else x.shape).uniform_()
        return x.mul(mask.ge_(self.rate)).div_(1 - self.rate)


class WordVectorEncoder(nn.Module):
    """Frozen word vectors, with dropout on them and on the sentence vector.

    Its initial weights follow from the seed. Subclasses are called with word ids [n, t] and lengths
    [n].
    """

    word_vectors: Tensor

    def __init__(self, word_vectors: np.ndarray, training: Training, seed: int) -> None:
        super().__init__()
        torch.manual_seed(seed)
        vectors = torch.from_numpy(np.array(word_vectors, dtype=np.float32))
        self.register_buffer("word_vectors", vectors, persistent=False)
        self.word_dropout = Dropout(training, "word_vectors")
        self.sentence_dropout = Dropout(training, "sentence_vector")
        self.add_layers(vectors.shape[1], training.sentence_dim)

    def add_layers(self, word_dim: int, sentence_dim: int) -> None:
        """Create the layers from word vectors to sentence vectors of these dimensions."""

    def embed(self, ids: Tensor) -> Tensor:
        """Return the vectors of word ids [..], after dropout: [.., word_dim]."""
        return self.word_dropout(F.embedding(ids, self.word_vectors))


def is_inside(words: Tensor, lengths: Tensor) -> Tensor:
    """Return which of the word ids [n, t] are within the lengths [n]: bool [n, t]."""
    return torch.arange(words.shape[1], device=words.device) < lengths.to(words.device)[:, None]


class WordsEncoder(WordVectorEncoder):
    """Returns all word vectors of a sentence, for rankers that read words: [n, t, d].

    Rows of padding are zero. There is no dropout here, because a row of zeros would look like
    padding; rankers apply it.
    """

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        # Multiplying with a mask would give -0, or NaN for vectors that are not finite.
        is_padding = ~is_inside(words, lengths)[:, :, None]
        return F.embedding(words, self.word_vectors).masked_fill(is_padding, 0)
