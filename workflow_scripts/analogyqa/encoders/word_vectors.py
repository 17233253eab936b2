"""What encoders that learn from frozen word vectors have in common."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from analogyqa.encoders.dropout import Dropout
from analogyqa.settings.systems import Training


class WordVectorEncoder(nn.Module):
    """Frozen word vectors, with dropout on them and on the sentence vector.

    It seeds PyTorch, so the layers that a subclass then creates follow from the seed.
    """

    word_vectors: Tensor

    def __init__(self, word_vectors: np.ndarray, training: Training, seed: int) -> None:
        super().__init__()
        torch.manual_seed(seed)
        vectors = torch.from_numpy(np.array(word_vectors, dtype=np.float32))
        self.register_buffer("word_vectors", vectors, persistent=False)
        self.word_dropout = Dropout(training, "word_vectors")
        self.sentence_dropout = Dropout(training, "sentence_vector")

    @property
    def word_dim(self) -> int:
        return self.word_vectors.shape[1]

    def embed(self, ids: Tensor) -> Tensor:
        """Return the vectors of word ids [..], after dropout: [.., word_dim]."""
        return self.word_dropout(F.embedding(ids, self.word_vectors))


def is_inside(words: Tensor, lengths: Tensor) -> Tensor:
    """Return which of the word ids [n, t] are within the lengths [n]: bool [n, t]."""
    return torch.arange(words.shape[1], device=words.device) < lengths.to(words.device)[:, None]
