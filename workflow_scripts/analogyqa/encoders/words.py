"""The vectors of all words of a sentence, for a ranker that reads words."""

from typing import TYPE_CHECKING

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

if TYPE_CHECKING:
    from analogyqa.settings.systems import Training


class WordsEncoder(nn.Module):
    """The frozen word vectors themselves, [n, t, d]; no parameters.

    Rows beyond a sentence's length are exactly zero. Dropout is left to the ranker that reads the
    words: here it could make a zero row, which would be read as padding.
    """

    def __init__(self, word_vectors: np.ndarray, training: "Training", seed: int) -> None:
        super().__init__()
        vectors = torch.from_numpy(np.array(word_vectors, dtype=np.float32))
        self.register_buffer("word_vectors", vectors, persistent=False)

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        """Encode word ids [n, t] of the given lengths [n]: float32 [n, t, d]."""
        lengths = lengths.to(words.device)[:, None]
        beyond = torch.arange(words.shape[1], device=words.device) >= lengths
        # A product with the mask would leave -0 or, of a vector that is not finite, no number.
        return F.embedding(words, self.word_vectors).masked_fill(beyond[:, :, None], 0)
