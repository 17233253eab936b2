"""BiLSTM with max pooling over frozen word vectors (QA-BiLSTM of dos Santos et al. 2016)."""

from typing import TYPE_CHECKING

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from analogyqa.encoders.dropout import Dropout

if TYPE_CHECKING:
    from analogyqa.settings.systems import Training


class BiLSTMEncoder(nn.Module):
    """Max pooling over the states of a bidirectional LSTM: [n, sentence_dim].

    This is QA-BiLSTM of "Attentive Pooling Networks" (section 2). `sentence_dim` counts both
    directions, 2h. With d-dimensional word vectors it has 8h (d + h + 2) parameters, because
    PyTorch's LSTM has two biases: with d = h = 300, 1,444,800 instead of 1,442,400.
    """

    word_vectors: Tensor

    def __init__(self, word_vectors: np.ndarray, training: "Training", seed: int) -> None:
        super().__init__()
        torch.manual_seed(seed)
        vectors = torch.from_numpy(np.array(word_vectors, dtype=np.float32))
        self.register_buffer("word_vectors", vectors, persistent=False)
        self.lstm = nn.LSTM(
            vectors.shape[1], training.sentence_dim // 2, batch_first=True, bidirectional=True
        )
        self.word_dropout = Dropout(training, "word_vectors")
        self.sentence_dropout = Dropout(training, "sentence_vector")

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        """Encode word ids [n, t] with lengths [n]. An empty sentence is one zero vector."""
        lengths = lengths.cpu()
        inside = torch.arange(words.shape[1]) < lengths[:, None]
        x = self.word_dropout(F.embedding(words, self.word_vectors))
        x = x * inside.to(words.device)[:, :, None]
        packed = pack_padded_sequence(
            x, lengths.clamp(min=1), batch_first=True, enforce_sorted=False
        )
        states, _ = self.lstm(packed)
        padded, _ = pad_packed_sequence(states, batch_first=True, padding_value=-torch.inf)
        return self.sentence_dropout(padded.amax(dim=1))
