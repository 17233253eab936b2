"""BiGRU with max pooling over frozen word vectors (section 3.3, figure 4 of the CoNLL paper)."""

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from analogyqa.config import Training


class BiGRUEncoder(nn.Module):
    """Word vectors, a bidirectional GRU, the maximum over time: [n, sentence_dim].

    `dropout_place` says where dropout acts: on the word vectors, the sentence vector or both.
    """

    def __init__(self, word_vectors: np.ndarray, training: Training) -> None:
        super().__init__()
        vectors = torch.from_numpy(np.array(word_vectors, dtype=np.float32))
        self.register_buffer("word_vectors", vectors, persistent=False)
        self.gru = nn.GRU(
            vectors.shape[1], training.sentence_dim // 2, batch_first=True, bidirectional=True
        )

        def dropout_at(place: str) -> nn.Dropout:
            return nn.Dropout(training.dropout if training.dropout_place in (place, "both") else 0)

        self.word_dropout = dropout_at("word_vectors")
        self.sentence_dropout = dropout_at("sentence_vector")

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        """Encode word ids [n, t] of the given lengths [n] (at least 1, on the CPU)."""
        packed = pack_padded_sequence(
            self.word_dropout(self.word_vectors[words]),
            lengths.clamp(min=1),
            batch_first=True,
            enforce_sorted=False,
        )
        states, _ = self.gru(packed)
        padded, _ = pad_packed_sequence(
            states, batch_first=True, padding_value=torch.finfo(torch.float32).min
        )
        return self.sentence_dropout(padded.amax(dim=1))
