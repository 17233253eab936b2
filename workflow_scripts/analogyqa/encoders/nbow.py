"""A neural bag of words: projected frozen vectors, summed (sections 3.2 and 3.3 of HyperQA)."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from analogyqa.encoders.word_vectors import WordVectorEncoder, is_inside
from analogyqa.settings.systems import Training


class NBOWEncoder(WordVectorEncoder):
    """The sum over words of ReLU(W x + b): [n, sentence_dim].

    It has (d + 1) * sentence_dim parameters, 90,300 for d = sentence_dim = 300. The ranker projects
    the sum onto the unit ball, so that its norm can be inspected before (section 5.1).
    """

    def __init__(self, word_vectors: np.ndarray, training: Training, seed: int) -> None:
        super().__init__(word_vectors, training, seed)
        self.projection = nn.Linear(self.word_dim, training.sentence_dim)

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        """Encode word ids [n, t] with lengths [n]. An empty sentence is all zeros."""
        lengths = lengths.to(words.device)
        ids, rows = words[is_inside(words, lengths)], None
        if not self.word_dropout.acts:
            # Without dropout, project repeated words only once.
            ids, rows = ids.unique(return_inverse=True)
        projected = self.projection(self.embed(ids)).relu()
        if rows is None:
            rows = torch.arange(len(ids), device=words.device)
        starts = lengths.cumsum(0) - lengths
        return self.sentence_dropout(F.embedding_bag(rows, projected, starts, mode="sum"))
