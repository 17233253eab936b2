"""Random sentence vectors: what any ranker gives when the encoder knows nothing."""

import torch
from torch import Tensor, nn

from analogyqa.config import Training


class RandomEncoder(nn.Module):
    """Draws a vector for each sentence from a normal distribution: [n, sentence_dim].

    The draws follow PyTorch's global seed.
    """

    def __init__(self, word_vectors: None, training: Training) -> None:
        super().__init__()
        self.dim = training.sentence_dim

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        """Return n random vectors, whatever the words."""
        return torch.randn(len(words), self.dim).to(words.device)
