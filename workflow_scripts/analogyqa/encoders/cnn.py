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
    """Word vectors, a wide convolution, tanh, the maximum over time: [n, sentence_dim].

    Wide: the filters also see the words at both ends of a sentence with zeros beside them, so a
    sentence of L words has L + 4 places, however short it is.
    """

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
        """Encode word ids [n, t] of the given lengths [n]; an empty sentence is all zeros."""
        lengths = lengths.to(words.device)[:, None]
        inside = torch.arange(words.shape[1], device=words.device) < lengths
        x = self.word_dropout(F.embedding(words, self.word_vectors)) * inside[:, :, None]
        maps = self.convolution(x.transpose(1, 2))
        beyond = torch.arange(maps.shape[2], device=words.device) >= lengths + WIDTH - 1
        # tanh keeps the order, so it can wait until the maximum is taken.
        maximum = maps.masked_fill(beyond[:, None], -torch.inf).amax(dim=2)
        return self.sentence_dropout(maximum.tanh())
