"""A convolution over frozen word vectors (Severyn and Moschitti 2015, Rao et al. 2016)."""

from typing import TYPE_CHECKING

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from analogyqa.encoders.dropout import Dropout

if TYPE_CHECKING:
    from analogyqa.settings.systems import Training


WIDTH = 5  # words, as in both papers


class CNNEncoder(nn.Module):
    """Max pooling over a wide convolution with tanh: [n, sentence_dim].

    A wide convolution pads both ends of a sentence with zeros, so L words give L + 4 positions.
    """

    word_vectors: Tensor

    def __init__(self, word_vectors: np.ndarray, training: "Training", seed: int) -> None:
        super().__init__()
        torch.manual_seed(seed)
        vectors = torch.from_numpy(np.array(word_vectors, dtype=np.float32))
        self.register_buffer("word_vectors", vectors, persistent=False)
        self.convolution = nn.Conv1d(
            vectors.shape[1], training.sentence_dim, WIDTH, padding=WIDTH - 1
        )
        self.word_dropout = Dropout(training, "word_vectors")
        self.sentence_dropout = Dropout(training, "sentence_vector")

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        """Encode word ids [n, t] with lengths [n]. An empty sentence is all zeros."""
        lengths = lengths.to(words.device)[:, None]
        inside = torch.arange(words.shape[1], device=words.device) < lengths
        x = self.word_dropout(F.embedding(words, self.word_vectors)) * inside[:, :, None]
        maps = self.convolution(x.transpose(1, 2))
        beyond = torch.arange(maps.shape[2], device=words.device) >= lengths + WIDTH - 1
        # tanh is monotonic, so it can follow the maximum.
        maximum = maps.masked_fill(beyond[:, None], -torch.inf).amax(dim=2)
        return self.sentence_dropout(maximum.tanh())
