"""Encoders that learn from frozen word vectors: BiGRU, BiLSTM, convolution and bag of words.

Their methods `winners` are described in `encoders.Encoder`.
"""

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from analogyqa.arithmetic import reproducible_arithmetic
from analogyqa.encoders.gru import GRUMax, reversed_rows
from analogyqa.encoders.word_vectors import WordVectorEncoder, is_inside
from analogyqa.settings.systems import Training


class BiGRUEncoder(WordVectorEncoder):
    """Max pooling over the states of a bidirectional GRU: [n, sentence_dim].

    It is the encoder of the CoNLL paper (section 3.3, figure 4).
    """

    def __init__(self, word_vectors: np.ndarray, training: Training, seed: int) -> None:
        if training.padded_length:  # the last word is the padding
            word_vectors = np.pad(word_vectors, [(0, 1), (0, 0)])
        super().__init__(word_vectors, training, seed)
        self.padded_length = training.padded_length
        self.in_bfloat16 = training.precision == "bfloat16"

    def add_layers(self, word_dim: int, sentence_dim: int) -> None:
        self.gru = nn.GRU(word_dim, sentence_dim // 2, batch_first=True, bidirectional=True)

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        """Encode sentences; `lengths` are on the CPU. An empty one is its first padding id."""
        packed = self._pack(words, lengths)
        pool = self._pool if packed.data.device.type == "cpu" else self._pool_on_gpu
        return self.sentence_dropout(pool(packed))

    def _pool(self, packed: PackedSequence) -> Tensor:
        ids, rows = packed.data, None
        if not self.word_dropout.acts:
            # Without dropout, multiply repeated words with the weights only once.
            ids, rows = ids.unique(return_inverse=True)
        x = self.embed(ids)
        backwards = reversed_rows(packed.batch_sizes)
        both_rows = (rows, backwards if rows is None else rows[backwards])
        arguments = (packed.batch_sizes.tolist(), self.in_bfloat16)
        directions = [
            GRUMax.apply(x, direction_rows, *weights, *arguments)
            for direction_rows, weights in zip(both_rows, self.gru.all_weights, strict=True)
        ]
        return torch.cat(directions, dim=1)[packed.unsorted_indices]

    def _pool_on_gpu(self, packed: PackedSequence) -> Tensor:
        """Compute the same vectors with cuDNN's GRU, which knows no bfloat16."""
        return self._states(packed).amax(dim=1)

    def winners(self, words: Tensor, lengths: Tensor) -> Tensor:
        return self._states(self._pack(words, lengths)).argmax(dim=1)

    def _pack(self, words: Tensor, lengths: Tensor) -> PackedSequence:
        if self.padded_length:
            words = words.masked_fill(~is_inside(words, lengths), len(self.word_vectors) - 1)
            missing = self.padded_length - words.shape[1]  # a negative one cuts
            words = F.pad(words, (0, missing), value=len(self.word_vectors) - 1)
            lengths = torch.full_like(lengths, self.padded_length)
        lengths = lengths.clamp(min=1)
        return pack_padded_sequence(words, lengths, batch_first=True, enforce_sorted=False)

    def _states(self, packed: PackedSequence) -> Tensor:
        """Return the states of the GRU of PyTorch: [n, t, sentence_dim], -inf for padding."""
        states, _ = self.gru(PackedSequence(self.embed(packed.data), *packed[1:]))
        return pad_packed_sequence(states, batch_first=True, padding_value=-torch.inf)[0]


class UntrainedBiGRUEncoder:
    """Encodes as `BiGRUEncoder` does before its first step, without dropout: [n, sentence_dim]."""

    def __init__(self, word_vectors: np.ndarray, training: Training, seed: int) -> None:
        self.encoder = BiGRUEncoder(word_vectors, training, seed).eval().requires_grad_(False)

    def __call__(self, words: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        with reproducible_arithmetic():
            return self.encoder(torch.from_numpy(words), torch.from_numpy(lengths)).numpy()

    def winners(self, words: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        with reproducible_arithmetic():
            return self.encoder.winners(torch.from_numpy(words), torch.from_numpy(lengths)).numpy()


class BiLSTMEncoder(WordVectorEncoder):
    """Max pooling over the states of a bidirectional LSTM: [n, sentence_dim].

    This is QA-BiLSTM of dos Santos et al. (2016, "Attentive Pooling Networks", section 2).
    `sentence_dim` counts both directions, 2h. With d-dimensional word vectors it has 8h (d + h + 2)
    parameters, because PyTorch's LSTM has two biases: with d = h = 300, 1,444,800 instead of
    1,442,400.
    """

    def add_layers(self, word_dim: int, sentence_dim: int) -> None:
        self.lstm = nn.LSTM(word_dim, sentence_dim // 2, batch_first=True, bidirectional=True)

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        """Encode sentences. An empty one is read as one zero vector."""
        return self.sentence_dropout(self._states(words, lengths).amax(dim=1))

    def winners(self, words: Tensor, lengths: Tensor) -> Tensor:
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


WIDTH = 5  # words, as in both papers


class CNNEncoder(WordVectorEncoder):
    """Max pooling over a wide convolution with tanh (Severyn and Moschitti 2015, Rao et al. 2016).

    A wide convolution pads both ends of a sentence with zeros, so L words give L + 4 positions. The
    vectors are [n, sentence_dim].
    """

    def add_layers(self, word_dim: int, sentence_dim: int) -> None:
        self.convolution = nn.Conv1d(word_dim, sentence_dim, WIDTH, padding=WIDTH - 1)

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        """Encode sentences. An empty one is read as zeros."""
        # tanh is monotonic, so it can follow the maximum.
        return self.sentence_dropout(self._maps(words, lengths).amax(dim=2).tanh())

    def winners(self, words: Tensor, lengths: Tensor) -> Tensor:
        """Return the middle word of a window; at the ends of a sentence, its first or last one."""
        middle = self._maps(words, lengths).argmax(dim=2) - WIDTH // 2
        return torch.minimum(middle.clamp(min=0), (lengths - 1)[:, None])

    def _maps(self, words: Tensor, lengths: Tensor) -> Tensor:
        """Return the convolution at all positions [n, sentence_dim, t + 4], -inf beyond the end."""
        x = self.embed(words) * is_inside(words, lengths)[:, :, None]
        maps = self.convolution(x.transpose(1, 2))
        ends = lengths.to(words.device)[:, None] + WIDTH - 1
        beyond = torch.arange(maps.shape[2], device=words.device) >= ends
        return maps.masked_fill(beyond[:, None], -torch.inf)


class NBOWEncoder(WordVectorEncoder):
    """A neural bag of words: the sum over words of ReLU(W x + b), [n, sentence_dim].

    It is the encoder of HyperQA (sections 3.2 and 3.3), and has (d + 1) * sentence_dim parameters,
    90,300 for d = sentence_dim = 300. The ranker projects the sum onto the unit ball, so that its
    norm can be inspected before (section 5.1).
    """

    def add_layers(self, word_dim: int, sentence_dim: int) -> None:
        self.projection = nn.Linear(word_dim, sentence_dim)

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        """Encode sentences. An empty one is all zeros."""
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


class XavierNBOWEncoder(NBOWEncoder):
    """`NBOWEncoder` with the first weights of HyperQA's code: Glorot and Bengio's, and no bias."""

    def add_layers(self, word_dim: int, sentence_dim: int) -> None:
        super().add_layers(word_dim, sentence_dim)
        nn.init.xavier_uniform_(self.projection.weight)
        nn.init.zeros_(self.projection.bias)
