"""All word vectors of a sentence, for rankers that read words."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from analogyqa.encoders.word_vectors import is_inside
from analogyqa.settings.systems import Training


class WordsEncoder(nn.Module):
    """Frozen word vectors without parameters: [n, t, d], with zero rows as padding.

    There is no dropout here, because a row of zeros would look like padding; rankers apply it.
    """

    word_vectors: Tensor

    def __init__(self, word_vectors: np.ndarray, training: Training, seed: int) -> None:
        super().__init__()
        vectors = torch.from_numpy(np.array(word_vectors, dtype=np.float32))
        self.register_buffer("word_vectors", vectors, persistent=False)

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        """Encode word ids [n, t] with lengths [n]: float32 [n, t, d]."""
        # Multiplying with a mask would give -0, or NaN for vectors that are not finite.
        is_padding = ~is_inside(words, lengths)[:, :, None]
        return F.embedding(words, self.word_vectors).masked_fill(is_padding, 0)
