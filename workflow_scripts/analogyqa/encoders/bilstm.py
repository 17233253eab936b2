"""BiLSTM with max pooling over frozen word vectors (QA-BiLSTM of dos Santos et al. 2016)."""

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from analogyqa.encoders.word_vectors import WordVectorEncoder, is_inside
from analogyqa.settings.systems import Training


class BiLSTMEncoder(WordVectorEncoder):
    """Max pooling over the states of a bidirectional LSTM: [n, sentence_dim].

    This is QA-BiLSTM of "Attentive Pooling Networks" (section 2). `sentence_dim` counts both
    directions, 2h. With d-dimensional word vectors it has 8h (d + h + 2) parameters, because
    PyTorch's LSTM has two biases: with d = h = 300, 1,444,800 instead of 1,442,400.
    """

    def __init__(self, word_vectors: np.ndarray, training: Training, seed: int) -> None:
        super().__init__(word_vectors, training, seed)
        self.lstm = nn.LSTM(
            self.word_dim, training.sentence_dim // 2, batch_first=True, bidirectional=True
        )

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        """Encode word ids [n, t] with lengths [n]. An empty sentence is one zero vector."""
        return self.sentence_dropout(self._states(words, lengths).amax(dim=1))

    def winners(self, words: Tensor, lengths: Tensor) -> Tensor:
        """Return the position of the word that each dimension comes from: int [n, sentence_dim]."""
        return self._states(words, lengths).argmax(dim=1)

    def _states(self, words: Tensor, lengths: Tensor) -> Tensor:
        """Return the states [n, t, sentence_dim], -inf for padding."""
        lengths = lengths.cpu()
        x = self.embed(words) * is_inside(words, lengths)[:, :, None]
        packed = pack_padded_sequence(
            x, lengths.clamp(min=1), batch_first=True, enforce_sorted=False
        )
        states, _ = self.lstm(packed)
        return pad_packed_sequence(states, batch_first=True, padding_value=-torch.inf)[0]
