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
        """Encode word ids [n, t] with lengths [n]. An empty sentence is read as zeros."""
        # tanh is monotonic, so it can follow the maximum.
        return self.sentence_dropout(self._maps(words, lengths).amax(dim=2).tanh())

    def winners(self, words: Tensor, lengths: Tensor) -> Tensor:
        """Return the middle word of the window that each dimension comes from.

        It is a position, int [n, sentence_dim]; at the ends of a sentence, its first or last word.
        """
        middle = self._maps(words, lengths).argmax(dim=2) - WIDTH // 2
        return torch.minimum(middle.clamp(min=0), (lengths - 1)[:, None])

    def _maps(self, words: Tensor, lengths: Tensor) -> Tensor:
        """Return the convolution at all positions [n, sentence_dim, t + 4], -inf beyond the end."""
        x = self.embed(words) * is_inside(words, lengths)[:, :, None]
        maps = self.convolution(x.transpose(1, 2))
        ends = lengths.to(words.device)[:, None] + WIDTH - 1
        beyond = torch.arange(maps.shape[2], device=words.device) >= ends
        return maps.masked_fill(beyond[:, None], -torch.inf)
