"""The mean of a sentence's word vectors."""

import numpy as np
import torch
from torch import Tensor, nn

from analogyqa.config import Training


class MeanEncoder(nn.Module):
    """Averages the word vectors of a sentence: [n, d]; the zero vector for no words."""

    def __init__(self, word_vectors: np.ndarray, training: Training) -> None:
        super().__init__()
        vectors = torch.from_numpy(np.array(word_vectors, dtype=np.float32))
        self.register_buffer("word_vectors", vectors, persistent=False)

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        """Encode word ids [n, t] of the given lengths [n]."""
        lengths = lengths.to(words.device)
        inside = torch.arange(words.shape[1], device=words.device) < lengths[:, None]
        total = (self.word_vectors[words] * inside[:, :, None]).sum(dim=1)
        return total / lengths.clamp(min=1)[:, None]
