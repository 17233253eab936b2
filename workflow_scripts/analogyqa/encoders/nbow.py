"""A neural bag of words: projected frozen vectors, summed (sections 3.2 and 3.3 of HyperQA)."""

from typing import TYPE_CHECKING

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from analogyqa.encoders.dropout import Dropout

if TYPE_CHECKING:
    from analogyqa.settings.systems import Training


class NBOWEncoder(nn.Module):
    """The sum over words of ReLU(W x + b): [n, sentence_dim].

    It has (d + 1) * sentence_dim parameters, 90,300 for d = sentence_dim = 300. The ranker projects
    the sum onto the unit ball, so that its norm can be inspected before (section 5.1).
    """

    word_vectors: Tensor

    def __init__(self, word_vectors: np.ndarray, training: "Training", seed: int) -> None:
        super().__init__()
        torch.manual_seed(seed)
        vectors = torch.from_numpy(np.array(word_vectors, dtype=np.float32))
        self.register_buffer("word_vectors", vectors, persistent=False)
        self.projection = nn.Linear(vectors.shape[1], training.sentence_dim)
        self.word_dropout = Dropout(training, "word_vectors")
        self.sentence_dropout = Dropout(training, "sentence_vector")

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        """Encode word ids [n, t] with lengths [n]. An empty sentence is all zeros."""
        lengths = lengths.to(words.device)
        inside = torch.arange(words.shape[1], device=words.device) < lengths[:, None]
        ids, rows = words[inside], None
        if not self.word_dropout.acts:
            # Without dropout, project repeated words only once.
            ids, rows = ids.unique(return_inverse=True)
        projected = self.projection(self.word_dropout(F.embedding(ids, self.word_vectors))).relu()
        if rows is None:
            rows = torch.arange(len(ids), device=words.device)
        starts = lengths.cumsum(0) - lengths
        return self.sentence_dropout(F.embedding_bag(rows, projected, starts, mode="sum"))
