"""MP-CNN (He, Gimpel and Lin 2015, "Multi-Perspective Sentence Similarity Modeling with
Convolutional Neural Networks"), which Rao et al. 2016 train on pairs of candidates."""

from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from analogyqa.encoders.dropout import Dropout
from analogyqa.rankers.padding import word_mask

if TYPE_CHECKING:
    from analogyqa.rankers import Quadruples
    from analogyqa.settings.options import Options
    from analogyqa.settings.systems import Training

WIDTHS = (1, 2, 3)  # words; one more window is the whole sentence
FILTERS = 20  # per dimension, of each pooling and width


class MPCNNRanker(nn.Module):
    """Two sentences, each seen in many ways, compared in many ways.

    Block A of a sentence: for each of max, min and mean pooling and for each width a convolution
    with d filters over whole word vectors ("holistic") and tanh, and the whole sentence pooled
    without a convolution: [3, 4, d]. d filters, since vectors of different windows are compared:
    300 with d = 300, as in the paper. Block B: for max and min pooling and for each width 20
    filters that see one dimension at a time, and tanh: [2, 3, 20, d].

    The features of a pair (the similarity measurement layer): algorithm 1, for each pooling and
    filter of block A the cosine and the L2 distance of the vectors over its windows; algorithm 2,
    for each pooling the cosine, the L2 distance and the absolute differences of every two windows
    of block A, and of every two equal vectors [d] of block B. Then a layer of `sentence_dim` = h
    with tanh (150 in the paper) and one score. Its two classes with a log-softmax are ranked by the
    difference of their outputs, which is one score too, and has h + 1 parameters less.

    Parameters: 24d^2 + 15d of block A, 360 of block B, and (174d + 337) h + h + 1; 10,045,561 with
    d = 300 and h = 150, the 10.0M of HyperQA. That is the network as the authors of the second
    paper released it: a convolution of width 2 or 3 stands on one of width 1 with tanh, each
    pooling has filters of its own, and the filters of block B are the same for all dimensions.
    Without the additional convolutions it would be 9.5M. Their released pairwise network has no
    hidden layer, 2.2M; ours is the same for both.

    A sentence shorter than a filter is filled up with zeros to its width. The dropout of the
    training section acts on the word vectors and on the features of a pair, of which there are
    174d + 336: scoring takes 0.2 MB for each pair, and several times that in between.
    """

    def __init__(self, options: "Options", training: "Training", dim: int, seed: int) -> None:
        super().__init__()
        torch.manual_seed(seed)
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
        self.word_dropout = Dropout(training, "word_vectors")
        self.sentence_dropout = Dropout(training, "sentence_vector")

    def energies(self, quadruples: "Quadruples", both_sides: bool = False) -> list[Tensor]:
        """Return the scores of the pairs c and d: one side, [n]."""
        lengths = word_mask(quadruples.vectors).sum(dim=1)
        vectors = self.word_dropout(quadruples.vectors).transpose(1, 2)
        a, b = self._block_a(vectors, lengths), self._block_b(vectors, lengths)
        c, d = quadruples.c, quadruples.d
        features = _features(a[c], a[d], b[c], b[d])
        hidden = self.hidden(self.sentence_dropout(features)).tanh()
        return [self.output(hidden).squeeze(1)]

    def _block_a(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        """Return the windows of sentences [u, d, t] in each pooling: [u, 3, 4, d]."""
        filled = F.pad(vectors, (0, max(WIDTHS) - 1))
        pooled = []
        for pool, convolutions in zip((_max, _min, _mean), self.holistic, strict=True):
            for width, convolution in zip(WIDTHS, convolutions, strict=True):
                pooled.append(pool(convolution(filled).tanh(), _places(lengths, width)))
            pooled.append(pool(vectors, lengths))
        return torch.stack(pooled, dim=1).unflatten(1, (3, -1))

    def _block_b(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        """Return the vectors of the filters of one dimension: [u, 120, d]."""
        filled = F.pad(vectors, (0, max(WIDTHS) - 1))
        pooled = []
        for largest, convolutions in zip((True, False), self.per_dimension, strict=True):
            for width, convolution in zip(WIDTHS, convolutions, strict=True):
                pooled.append(_extremes(convolution, filled, _places(lengths, width), largest))
        # tanh keeps the order, so it can wait until the pooling is done.
        return torch.cat(pooled, dim=1).tanh()


def _holistic(dim: int, width: int) -> nn.Module:
    convolution = nn.Conv1d(dim, dim, width)
    if width == 1:
        return convolution
    return nn.Sequential(nn.Conv1d(dim, dim, 1), nn.Tanh(), convolution)


def _places(lengths: Tensor, width: int) -> Tensor:
    """Return how many places a filter has in sentences of the given lengths [u]."""
    return (lengths - width + 1).clamp(min=1)


def _beyond(maps: Tensor, counts: Tensor) -> Tensor:
    """Say which of the last dimension's places of maps [u, .., t] are beyond the counts [u]."""
    beyond = torch.arange(maps.shape[-1], device=maps.device) >= counts[:, None]
    return beyond.view(len(maps), *[1] * (maps.ndim - 2), -1)


def _max(maps: Tensor, counts: Tensor) -> Tensor:
    # The gradient of `amax`, shared among equal values, takes much longer.
    return maps.masked_fill(_beyond(maps, counts), -torch.inf).max(dim=-1).values


def _min(maps: Tensor, counts: Tensor) -> Tensor:
    return maps.masked_fill(_beyond(maps, counts), torch.inf).min(dim=-1).values


def _mean(maps: Tensor, counts: Tensor) -> Tensor:
    return maps.masked_fill(_beyond(maps, counts), 0).sum(dim=-1) / counts[:, None]


def _extremes(convolution: nn.Conv2d, filled: Tensor, counts: Tensor, largest: bool) -> Tensor:
    """Return the largest or smallest value of each filter in each dimension: [u, 20, d].

    Its place is found without gradients, and its value then computed with them. The values of all
    places [u, 20, d, t] would need most of the time and memory of a training step.
    """
    each = filled[:, None]
    with torch.no_grad():
        maps = convolution(each)
        maps.masked_fill_(_beyond(maps, counts), -torch.inf if largest else torch.inf)
        places = (maps.argmax(dim=-1) if largest else maps.argmin(dim=-1))[..., None]
    each = each.expand(-1, FILTERS, -1, -1)
    window = torch.cat(
        [each.gather(3, places + offset) for offset in range(convolution.kernel_size[1])], dim=3
    )
    return (window * convolution.weight[:, 0]).sum(dim=3) + convolution.bias[:, None]


def _features(first_a: Tensor, second_a: Tensor, first_b: Tensor, second_b: Tensor) -> Tensor:
    """Compare blocks A [n, 3, 4, d] and B [n, 120, d] of two sentences: [n, 174d + 336]."""
    every, other = first_a[:, :, :, None], second_a[:, :, None]
    compared = [
        *_unit_2(first_a, second_a, dim=2),
        *(*_unit_2(every, other, dim=-1), (every - other).abs()),
        *(*_unit_2(first_b, second_b, dim=-1), (first_b - second_b).abs()),
    ]
    return torch.cat([each.flatten(1) for each in compared], dim=1)


def _unit_2(first: Tensor, second: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    """Return the cosine and the L2 distance along a dimension."""
    distance = torch.linalg.vector_norm(first - second, dim=dim)
    return F.cosine_similarity(first, second, dim=dim), distance
