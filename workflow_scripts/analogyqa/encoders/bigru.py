"""BiGRU with max pooling over frozen word vectors (section 3.3, figure 4 of the CoNLL paper)."""

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from analogyqa.encoders.gru import GRUMax, reversed_rows
from analogyqa.encoders.word_vectors import WordVectorEncoder
from analogyqa.settings.systems import Training


class BiGRUEncoder(WordVectorEncoder):
    """Max pooling over the states of a bidirectional GRU: [n, sentence_dim]."""

    def __init__(self, word_vectors: np.ndarray, training: Training, seed: int) -> None:
        super().__init__(word_vectors, training, seed)
        self.gru = nn.GRU(
            self.word_dim, training.sentence_dim // 2, batch_first=True, bidirectional=True
        )
        self.in_bfloat16 = training.precision == "bfloat16"

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        """Encode word ids [n, t] with lengths [n], which are on the CPU.

        An empty sentence is encoded as its first padding id.
        """
        packed = _pack(words, lengths)
        pool = self._pool if packed.data.device.type == "cpu" else self._pool_on_gpu
        return self.sentence_dropout(pool(packed))

    def _pool(self, packed: PackedSequence) -> Tensor:
        ids, rows = packed.data, None
        if not self.word_dropout.acts:
            # Without dropout, multiply repeated words with the weights only once.
            ids, rows = ids.unique(return_inverse=True)
        x = self.embed(ids)
        sizes = packed.batch_sizes.tolist()
        forward, reverse = self.gru.all_weights
        backwards = reversed_rows(packed.batch_sizes)
        reverse_rows = backwards if rows is None else rows[backwards]
        directions = (
            GRUMax.apply(x, rows, *forward, sizes, self.in_bfloat16),
            GRUMax.apply(x, reverse_rows, *reverse, sizes, self.in_bfloat16),
        )
        return torch.cat(directions, dim=1)[packed.unsorted_indices]

    def _pool_on_gpu(self, packed: PackedSequence) -> Tensor:
        """Compute the same vectors with cuDNN's GRU, which knows no bfloat16."""
        return self._states(packed).amax(dim=1)

    def winners(self, words: Tensor, lengths: Tensor) -> Tensor:
        """Return the position of the word that each dimension comes from: int [n, sentence_dim]."""
        return self._states(_pack(words, lengths)).argmax(dim=1)

    def _states(self, packed: PackedSequence) -> Tensor:
        """Return the states of the GRU of PyTorch: [n, t, sentence_dim], -inf for padding."""
        states, _ = self.gru(PackedSequence(self.embed(packed.data), *packed[1:]))
        return pad_packed_sequence(states, batch_first=True, padding_value=-torch.inf)[0]


def _pack(words: Tensor, lengths: Tensor) -> PackedSequence:
    return pack_padded_sequence(words, lengths.clamp(min=1), batch_first=True, enforce_sorted=False)
