"""The plain way: a Siamese network of four towers, which encodes every quadruple's a, b, c, d."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from analogyqa.encoders.networks import BiGRUEncoder
from analogyqa.objectives.losses import contrastive
from analogyqa.rankers.energy import energy
from analogyqa.settings.systems import Training
from analogyqa.training.batches import Batch
from analogyqa.training.data import CellData


def encode(encoder: BiGRUEncoder, data: CellData, numbers: np.ndarray) -> Tensor:
    """Encode sentences [n] by PyTorch's own layers, with the encoder's weights: [n, dim]."""
    words, lengths = map(torch.from_numpy, data.sentences.batch(numbers))
    x = F.embedding(words.to(encoder.word_vectors.device), encoder.word_vectors)
    x = F.dropout(x, encoder.word_dropout.rate, encoder.training)
    packed = pack_padded_sequence(x, lengths.clamp(min=1), batch_first=True, enforce_sorted=False)
    states, _ = pad_packed_sequence(
        encoder.gru(packed)[0], batch_first=True, padding_value=-torch.inf
    )
    return states.amax(dim=1)


def batch_loss(encoder: BiGRUEncoder, data: CellData, batch: Batch, training: Training) -> Tensor:
    """Return the mean loss of a batch of quadruples, whose sentences are all encoded."""
    a, b, c, d = (
        encode(encoder, data, batch.sentences[tower])
        for tower in (batch.a, batch.b, batch.c, batch.d)
    )
    labels = torch.from_numpy(batch.labels).to(a)
    energies = energy(a - b, c - d)
    hinge = training.loss == "hinge"
    return contrastive(energies, labels, training.margin, hinge).mean()
