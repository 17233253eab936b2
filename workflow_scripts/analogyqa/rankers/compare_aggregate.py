"""Compare-aggregate (Wang and Jiang 2017, "A compare-aggregate model for matching text sequences",
ICLR)."""

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

WIDTHS = (1, 2, 3, 4, 5)  # words that a filter sees
PAIRS = 64  # that are compared at a time, with candidates of like length: few places are padding


class CompareAggregateRanker(nn.Module):
    """Each word of a candidate is compared with what it attends to of the question.

    Each word vector x becomes sigmoid(W x + b) * tanh(U x + c) [h] (eq. 1), h = `sentence_dim`,
    which gives the question Q [s, h] and the candidate A [t, h]. Each word of the candidate attends
    to the question: G = softmax((Q V + v) A^T) over the question's words, H = G^T Q [t, h] (eq. 2).
    They are compared by their products, T = A * H (eq. 6), to which convolutions of 1 to 5 words
    with h filters each are applied; their maxima over the words [5 h] go through a layer of h with
    tanh to a score (section 2.4).

    The filters have a ReLU as in Kim (2014), on which the paper builds. The dropout of the training
    section acts on the word vectors and on the maxima.

    Parameters: 2 h (d + 1) + h (h + 1) of the projection and the attention, 15 h^2 + 5 h of the
    filters, 5 h^2 + h and h + 1 of the output.
    """

    def __init__(self, options: "Options", training: "Training", dim: int, seed: int) -> None:
        super().__init__()
        torch.manual_seed(seed)
        hidden = training.sentence_dim
        self.gate, self.content = nn.Linear(dim, hidden), nn.Linear(dim, hidden)
        self.attention = nn.Linear(hidden, hidden)
        self.convolutions = nn.ModuleList(nn.Conv1d(hidden, hidden, width) for width in WIDTHS)
        self.layer = nn.Linear(len(WIDTHS) * hidden, hidden)
        self.output = nn.Linear(hidden, 1)
        self.word_dropout = Dropout(training, "word_vectors")
        self.sentence_dropout = Dropout(training, "sentence_vector")

    def energies(self, quadruples: "Quadruples", both_sides: bool = False) -> list[Tensor]:
        """Return the scores of the pairs c and d: one side, [n]."""
        vectors, _, _, c, d = quadruples
        inside = word_mask(vectors)
        lengths = inside.sum(dim=1)
        # Layers see words only: most places of a batch lie behind the end of a sentence.
        x = self.word_dropout(vectors[inside])
        words = self.gate(x).sigmoid() * self.content(x).tanh()
        # V is multiplied with each question once, not with each pair.
        asking, number = c.unique(return_inverse=True)
        of_questions = words[_rows_of(asking, lengths)]
        asked = _within(lengths[asking])
        questions = _placed(of_questions, asked, 0), _placed(self.attention(of_questions), asked, 0)
        # Words of all candidates are taken at once: the gradient of taking some is as large as all.
        order = lengths[d].argsort(stable=True)
        blocks = order.split(PAIRS)
        counts = [int(lengths[d[rows]].sum()) for rows in blocks]
        of_candidates = words[_rows_of(d[order], lengths)].split(counts)
        scores = []
        for rows, own in zip(blocks, of_candidates, strict=True):
            question, turned = (each[number[rows]] for each in questions)
            said = _within(lengths[d[rows]])
            candidate = _placed(own, said, 0)
            match = candidate @ turned.transpose(1, 2)
            match = match.masked_fill(~asked[number[rows]][:, None], -torch.inf)
            pooled = self._maxima(candidate * (match.softmax(dim=2) @ question), said)
            both = self.sentence_dropout(torch.cat(pooled, dim=1))
            scores.append(self.output(self.layer(both).tanh()).squeeze(1))
        return [torch.cat(scores)[order.argsort()]]

    def _maxima(self, compared: Tensor, said: Tensor) -> list[Tensor]:
        """Return for each width the maxima [n, h] of the filters that begin within a candidate.

        The candidates stand in one row, each with zeros behind it for the widest filter.
        """
        gap = max(WIDTHS) - 1
        apart = F.pad(said, (gap, 0), value=True)  # a sentence of t words has t + gap places
        row = F.pad(compared.masked_fill(~said[:, :, None], 0), (0, 0, 0, gap))[apart].T
        begins = F.pad(said, (0, gap))[apart]
        pooled = []
        for convolution in self.convolutions:
            maps = F.pad(convolution(row[None])[0], (0, convolution.kernel_size[0] - 1))
            pooled.append(_placed(maps.T[begins].relu(), said, -torch.inf).amax(dim=1))
        return pooled


def _within(lengths: Tensor) -> Tensor:
    """Say which places are within sentences of lengths [n]: bool [n, longest]."""
    return torch.arange(int(lengths.max()), device=lengths.device) < lengths[:, None]


def _rows_of(sentences: Tensor, lengths: Tensor) -> Tensor:
    """Return the rows [w] of the words of sentences [n], of which all have lengths [u]."""
    own = lengths[sentences]
    shift = (lengths.cumsum(0) - lengths)[sentences] - (own.cumsum(0) - own)
    return torch.arange(int(own.sum()), device=own.device) + shift.repeat_interleave(own)


def _placed(values: Tensor, inside: Tensor, elsewhere: float) -> Tensor:
    """Put the rows of values [w, h] where inside [n, t] is true: [n, t, h]."""
    placed = values.new_full((*inside.shape, values.shape[1]), elsewhere)
    placed[inside] = values
    return placed
