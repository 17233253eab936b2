"""AI-CNN (Zhang et al. 2017, "Attentive Interactive Neural Networks for Answer Selection in
Community Question Answering")."""

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from analogyqa.encoders.dropout import Dropout
from analogyqa.rankers.padding import side_of, word_mask

if TYPE_CHECKING:
    from analogyqa.rankers import Quadruples
    from analogyqa.settings.options import Options
    from analogyqa.settings.systems import Training

WIDTH = 3  # words that a filter sees


class AICNNRanker(nn.Module):
    """Attentive pooling of a 3D tensor: a vector, not a number, for each pair of words.

    A convolution with tanh gives a question the maps Q [s, h] and a candidate A [t, h], with h =
    `sentence_dim`. The interaction of two words is T_ij = tanh(V [q_i; a_j; q_i * a_j] + b) [h].
    The maximum over j of T_ij is what a question's word i found in the candidate, the maximum over
    i what a candidate's word j found in the question: r [s, h] and p [t, h]. Each side is the sum
    of its rows weighted by softmax(w r_i), with a w for each side; the score is linear in both.

    From the paper: the convolution, the interactions of each paired segments, the pooling of rows
    and columns, the attention and the sum. Ours, since we know it by its abstract: WIDTH, tanh,
    the form of T and of the attention, the size h of T, and the maximum (not the k largest).
    Without the product T_ij would be tanh(x_i + y_j), whose maximum over j is that of y_j alone:
    no interaction. The dropout of the training section acts on the word vectors and on the two
    sums.

    Time and memory grow as n s t h^2 and n s t h for n pairs.

    Parameters: h (3d + 1) + h (3h + 1) + 2h + (2h + 1) = 3h^2 + (3d + 6) h + 1; 120,601 with d =
    300 and h = 100. HyperQA prints 140K with vectors of its own and of an unknown size.
    """

    def __init__(self, options: "Options", training: "Training", dim: int, seed: int) -> None:
        super().__init__()
        torch.manual_seed(seed)
        hidden = training.sentence_dim
        self.convolution = nn.Conv1d(dim, hidden, WIDTH, padding=WIDTH // 2)
        self.of_question = nn.Linear(hidden, hidden)
        self.of_candidate = nn.Linear(hidden, hidden, bias=False)
        self.of_product = nn.Linear(hidden, hidden, bias=False)
        self.question_attention = nn.Linear(hidden, 1, bias=False)
        self.candidate_attention = nn.Linear(hidden, 1, bias=False)
        self.output = nn.Linear(2 * hidden, 1)
        self.word_dropout = Dropout(training, "word_vectors")
        self.sentence_dropout = Dropout(training, "sentence_vector")

    def energies(self, quadruples: "Quadruples", both_sides: bool = False) -> list[Tensor]:
        """Return the scores of the pairs c and d: one side, [n]."""
        vectors, c, d = quadruples.vectors, quadruples.c, quadruples.d
        inside = word_mask(vectors)
        maps = self.convolution(self.word_dropout(vectors).transpose(1, 2)).tanh().transpose(1, 2)
        questions, asked = side_of(maps, inside, c)
        candidates, said = side_of(maps, inside, d)
        # The two parts of V that see one side are multiplied with each sentence once.
        own, _ = side_of(self.of_question(maps), inside, c)
        other, _ = side_of(self.of_candidate(maps), inside, d)
        together = self.of_product(questions[:, :, None] * candidates[:, None])
        tensor = (together + own[:, :, None] + other[:, None]).tanh()
        found = tensor.masked_fill(~said[:, None, :, None], -torch.inf).amax(dim=2)
        first = _attended(found, asked, self.question_attention)
        found = tensor.masked_fill(~asked[:, :, None, None], -torch.inf).amax(dim=1)
        second = _attended(found, said, self.candidate_attention)
        both = self.sentence_dropout(torch.cat([first, second], dim=1))
        return [self.output(both).squeeze(1)]


def _attended(rows: Tensor, inside: Tensor, attention: nn.Linear) -> Tensor:
    """Sum rows [n, t, h] with attention over those inside [n, t]: [n, h]."""
    weights = attention(rows).squeeze(2).masked_fill(~inside, -torch.inf).softmax(dim=1)
    return (weights[:, None] @ rows).squeeze(1)
