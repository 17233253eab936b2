"""A convolution over frozen word vectors (Severyn and Moschitti 2015, Rao et al. 2016)."""

import numpy as np
import torch
from torch import Tensor, nn

from analogyqa.encoders.word_vectors import WordVectorEncoder, is_inside
from analogyqa.settings.systems import Training

WIDTH = 5  # words, as in both papers


class CNNEncoder(WordVectorEncoder):
    """Max pooling over a wide convolution with tanh: [n, sentence_dim].

    A wide convolution pads both ends of a sentence with zeros, so L words give L + 4 positions.
    """

    def __init__(self, word_vectors: np.ndarray, training: Training, seed: int) -> None:
        super().__init__(word_vectors, training, seed)
        self.convolution = nn.Conv1d(self.word_dim, training.sentence_dim, WIDTH, padding=WIDTH - 1)

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        """Encode word ids [n, t] with lengths [n]. An empty sentence is all zeros."""
        x = self.embed(words) * is_inside(words, lengths)[:, :, None]
        maps = self.convolution(x.transpose(1, 2))
        ends = lengths.to(words.device)[:, None] + WIDTH - 1
        beyond = torch.arange(maps.shape[2], device=words.device) >= ends
        # tanh is monotonic, so it can follow the maximum.
        maximum = maps.masked_fill(beyond[:, None], -torch.inf).amax(dim=2)
        return self.sentence_dropout(maximum.tanh())
