"""Compare-aggregate (Wang and Jiang 2017, "A compare-aggregate model for matching text sequences",
ICLR)."""

from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from analogyqa.encoders.dropout import Dropout
from analogyqa.rankers.padding import inside_of, side_of

if TYPE_CHECKING:
    from analogyqa.rankers import Quadruples
    from analogyqa.settings.systems import System

WIDTHS = (1, 2, 3, 4, 5)  # words that a filter sees


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

    def __init__(self, system: "System", dim: int, seed: int) -> None:
        super().__init__()
        torch.manual_seed(seed)
        hidden = system.training.sentence_dim
        self.gate, self.content = nn.Linear(dim, hidden), nn.Linear(dim, hidden)
        self.attention = nn.Linear(hidden, hidden)
        self.convolutions = nn.ModuleList(nn.Conv1d(hidden, hidden, width) for width in WIDTHS)
        self.layer = nn.Linear(len(WIDTHS) * hidden, hidden)
        self.output = nn.Linear(hidden, 1)
        self.word_dropout = Dropout(system.training, "word_vectors")
        self.sentence_dropout = Dropout(system.training, "sentence_vector")

    def energies(self, quadruples: "Quadruples", both_sides: bool = False) -> list[Tensor]:
        """Return the scores of the pairs c and d: one side, [n]."""
        inside = inside_of(quadruples.vectors)
        x = self.word_dropout(quadruples.vectors)
        words = self.gate(x).sigmoid() * self.content(x).tanh()
        questions, asked = side_of(words, inside, quadruples.c)
        candidates, said = side_of(words, inside, quadruples.d)
        # V is multiplied with each sentence once, not with each pair.
        turned, _ = side_of(self.attention(words), inside, quadruples.c)
        match = (candidates @ turned.transpose(1, 2)).masked_fill(~asked[:, None], -torch.inf)
        compared = candidates * (match.softmax(dim=2) @ questions)
        # A place beyond the end must not differ with what else is in the batch.
        compared = compared.masked_fill(~said[:, :, None], 0).transpose(1, 2)
        pooled = [self._maxima(each, compared, said) for each in self.convolutions]
        both = self.sentence_dropout(torch.cat(pooled, dim=1))
        return [self.output(self.layer(both).tanh()).squeeze(1)]

    @staticmethod
    def _maxima(convolution: nn.Conv1d, compared: Tensor, said: Tensor) -> Tensor:
        """Return the maxima [n, h] of the filters that begin within a candidate."""
        maps = convolution(F.pad(compared, (0, convolution.kernel_size[0] - 1))).relu()
        return maps.masked_fill(~said[:, None], -torch.inf).amax(dim=2)
