"""MP-CNN (He, Gimpel and Lin 2015, "Multi-Perspective Sentence Similarity Modeling with
Convolutional Neural Networks"), which Rao et al. (2016) train on pairs of candidates."""

from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from analogyqa.rankers.words import WordNetwork, word_mask
from analogyqa.settings.base import Options
from analogyqa.settings.systems import Training

WIDTHS = (1, 2, 3)  # words of a window; another window is the whole sentence
FILTERS = 20  # filters per dimension for each pooling and width


class MPCNNRanker(WordNetwork):
    """Represents each sentence in several ways, and compares the representations in several ways.

    Block A of a sentence [3, 4, d] has, for each of max, min and mean pooling, a convolution of
    each width with d filters over whole word vectors ("holistic") and tanh, and the whole sentence
    pooled without a convolution. There are d filters because vectors of different windows are
    compared; that is 300 for d = 300, as in the paper. Block B [2, 3, 20, d] has, for max and min
    pooling and each width, 20 filters that see one dimension at a time, and tanh.

    The features of a pair (the similarity measurement layer) are, by algorithm 1, the cosine and
    the L2 distance of the vectors over the windows, for each pooling and filter of block A; and, by
    algorithm 2, for each pooling, the cosine, the L2 distance and the absolute differences of every
    two windows of block A and of corresponding vectors [d] of block B. A layer of size h =
    `sentence_dim` with tanh (150 in the paper) then gives one score. The paper has two classes and
    a log-softmax; ranking by the difference of their outputs is the same, with h + 1 more weights.

    Parameters: 24d^2 + 15d for block A, 360 for block B, and (174d + 337) h + h + 1; that is
    10,045,561 for d = 300 and h = 150, the 10.0M that HyperQA prints. This is the network that the
    authors of the second paper released: a convolution of width 2 or 3 follows one of width 1 with
    tanh, each pooling has its own filters, and all dimensions share the filters of block B. Without
    the additional convolutions, it would have 9.5M. Their released pairwise network has no hidden
    layer and 2.2M; ours is the same for both.

    A sentence shorter than a filter is padded with zeros. The dropout of the training section acts
    on the word vectors and on the 174d + 336 features of a pair. Scoring needs 0.2 MB for the
    features of each pair, and temporarily several times as much.
    """

    def __init__(self, options: Options, training: Training, dim: int, seed: int) -> None:
        super().__init__(options, training, dim, seed)
        self.holistic = nn.ModuleList(
            nn.ModuleList(_holistic(dim, width) for width in WIDTHS) for _ in range(3)
        )
        self.per_dimension = nn.ModuleList(
            nn.ModuleList(nn.Conv2d(1, FILTERS, (1, width)) for width in WIDTHS) for _ in range(2)
        )
        windows, vectors = len(WIDTHS) + 1, 2 * len(WIDTHS) * FILTERS
        features = 3 * dim * 2 + (3 * windows**2 + vectors) * (2 + dim)
        self.hidden = nn.Linear(features, training.sentence_dim)
        self.output = nn.Linear(training.sentence_dim, 1)

    def pair_scores(self, vectors: Tensor, questions: Tensor, candidates: Tensor) -> Tensor:
        """Return the scores of pairs [n]; see `WordNetwork`."""
        lengths = word_mask(vectors).sum(dim=1)
        vectors = self.word_dropout(vectors).transpose(1, 2)
        a = self._block_a(vectors, lengths)
        b = self._block_b(vectors, lengths)
        features = _features(a[questions], a[candidates], b[questions], b[candidates])
        hidden = self.hidden(self.sentence_dropout(features)).tanh()
        return self.output(hidden).squeeze(1)

    def _block_a(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        """Return the windows of sentences [u, d, t] in each pooling: [u, 3, 4, d]."""
        filled = F.pad(vectors, (0, max(WIDTHS) - 1))
        pooled = []
        for pool, convolutions in zip((_max, _min, _mean), self.holistic, strict=True):
            for width, convolution in zip(WIDTHS, convolutions.children(), strict=True):
                pooled.append(pool(convolution(filled).tanh(), _positions(lengths, width)))
            pooled.append(pool(vectors, lengths))
        return torch.stack(pooled, dim=1).unflatten(1, (3, -1))

    def _block_b(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        """Return the vectors of the filters that see one dimension: [u, 120, d]."""
        filled = F.pad(vectors, (0, max(WIDTHS) - 1))
        pooled = []
        for largest, convolutions in zip((True, False), self.per_dimension, strict=True):
            for width, module in zip(WIDTHS, convolutions.children(), strict=True):
                convolution, positions = cast(nn.Conv2d, module), _positions(lengths, width)
                pooled.append(_extremes(convolution, filled, positions, largest))
        # tanh is monotonic, so it can follow the pooling.
        return torch.cat(pooled, dim=1).tanh()


def _holistic(dim: int, width: int) -> nn.Module:
    convolution = nn.Conv1d(dim, dim, width)
    if width == 1:
        return convolution
    return nn.Sequential(nn.Conv1d(dim, dim, 1), nn.Tanh(), convolution)


def _positions(lengths: Tensor, width: int) -> Tensor:
    """Return the number of positions of a filter in sentences of some lengths [u]."""
    return (lengths - width + 1).clamp(min=1)


def _beyond(maps: Tensor, counts: Tensor) -> Tensor:
    """Return which positions of maps [u, .., t] in the last dimension are beyond counts [u]."""
    beyond = torch.arange(maps.shape[-1], device=maps.device) >= counts[:, None]
    return beyond.view(len(maps), *[1] * (maps.ndim - 2), -1)


def _max(maps: Tensor, counts: Tensor) -> Tensor:
    # Not `amax`: its gradient, which equal values share, takes much longer.
    return maps.masked_fill(_beyond(maps, counts), -torch.inf).max(dim=-1).values


def _min(maps: Tensor, counts: Tensor) -> Tensor:
    return maps.masked_fill(_beyond(maps, counts), torch.inf).min(dim=-1).values


def _mean(maps: Tensor, counts: Tensor) -> Tensor:
    return maps.masked_fill(_beyond(maps, counts), 0).sum(dim=-1) / counts[:, None]


def _extremes(convolution: nn.Conv2d, filled: Tensor, counts: Tensor, largest: bool) -> Tensor:
    """Return the largest or smallest value of each filter in each dimension: [u, 20, d].

    Find its position without gradients, then compute its value with them. Gradients of all values
    [u, 20, d, t] would need most of the time and memory of a training step.
    """
    channel = filled[:, None]
    with torch.no_grad():
        maps = convolution(channel)
        maps.masked_fill_(_beyond(maps, counts), -torch.inf if largest else torch.inf)
        positions = (maps.argmax(dim=-1) if largest else maps.argmin(dim=-1))[..., None]
    channels = channel.expand(-1, FILTERS, -1, -1)
    offsets = range(convolution.weight.shape[3])
    window = torch.cat([channels.gather(3, positions + offset) for offset in offsets], dim=3)
    values = (window * convolution.weight[:, 0]).sum(dim=3)
    return values if convolution.bias is None else values + convolution.bias[:, None]


def _features(first_a: Tensor, second_a: Tensor, first_b: Tensor, second_b: Tensor) -> Tensor:
    """Compare blocks A [n, 3, 4, d] and B [n, 120, d] of two sentences: [n, 174d + 336]."""
    every, other = first_a[:, :, :, None], second_a[:, :, None]
    compared = [
        *_unit_2(first_a, second_a, dim=2),
        *(*_unit_2(every, other, dim=-1), (every - other).abs()),
        *(*_unit_2(first_b, second_b, dim=-1), (first_b - second_b).abs()),
    ]
    return torch.cat([part.flatten(1) for part in compared], dim=1)


def _unit_2(first: Tensor, second: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    """Return the cosine and the L2 distance along a dimension."""
    distance = torch.linalg.vector_norm(first - second, dim=dim)
    return F.cosine_similarity(first, second, dim=dim), distance
