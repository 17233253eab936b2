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
    """The sum over words of ReLU(W x + b), W [sentence_dim, d]: [n, sentence_dim].

    It learns (d + 1) * sentence_dim numbers: 90,300 for 300 and 300. The sum is not drawn onto the
    unit ball, which the ranker does, so that its norm can be looked at (section 5.1).
    """

    def __init__(self, word_vectors: np.ndarray, training: "Training", seed: int) -> None:
        super().__init__()
        torch.manual_seed(seed)
        vectors = torch.from_numpy(np.array(word_vectors, dtype=np.float32))
        self.register_buffer("word_vectors", vectors, persistent=False)
        self.projection = nn.Linear(vectors.shape[1], training.sentence_dim)
        self.word_dropout = Dropout(training, "word_vectors")
        self.sentence_dropout = Dropout(training, "sentence_vector")

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        """Encode word ids [n, t] of the given lengths [n]; an empty sentence is all zeros."""
        lengths = lengths.to(words.device)
        inside = torch.arange(words.shape[1], device=words.device) < lengths[:, None]
        ids, rows = words[inside], None
        if not self.word_dropout.acts:
            # A word that comes again is the same: it is projected once.
            ids, rows = ids.unique(return_inverse=True)
        projected = self.projection(self.word_dropout(F.embedding(ids, self.word_vectors))).relu()
        if rows is None:
            rows = torch.arange(len(ids), device=words.device)
        starts = lengths.cumsum(0) - lengths
        return self.sentence_dropout(F.embedding_bag(rows, projected, starts, mode="sum"))
