"""AI-CNN (Zhang et al. 2017, "Attentive Interactive Neural Networks for Answer Selection in
Community Question Answering")."""

import torch
from torch import Tensor, nn

from analogyqa.encoders.dropout import Dropout
from analogyqa.rankers import Quadruples
from analogyqa.rankers.padding import side_of, word_mask
from analogyqa.settings.base import Options
from analogyqa.settings.systems import Training

WIDTH = 3  # words that a filter sees


class AICNNRanker(nn.Module):
    """Attentive pooling over a 3D tensor, which has a vector for each pair of words.

    A convolution with tanh gives the maps Q [s, h] of a question and A [t, h] of a candidate, with
    h = `sentence_dim`. Two words interact as T_ij = tanh(V [q_i; a_j; q_i * a_j] + b) [h]. The
    maxima over j give r [s, h], what each word of the question finds in the candidate; the
    maxima over i give p [t, h], the same for the candidate. Each side is the sum of its rows
    weighted by softmax(w r_i), with a separate w for each side. The score is linear in both sums.

    We know only the abstract of the paper. It gives the convolution, the interactions of all pairs
    of segments, the pooling of rows and columns, the attention, and the sum. Our choices are WIDTH,
    tanh, the forms of T and of the attention, the size h of T, and the maximum (instead of the k
    largest). T needs the product: without it, T_ij = tanh(x_i + y_j), whose maximum over j depends
    on y_j alone, so nothing would interact. The dropout of the training section acts on the word
    vectors and on the two sums.

    For n pairs, time grows as n s t h^2 and memory as n s t h.

    Parameters: h (3d + 1) + h (3h + 1) + 2h + (2h + 1) = 3h^2 + (3d + 6) h + 1; that is 120,601 for
    d = 300 and h = 100. HyperQA prints 140K, with its own vectors of an unknown size.
    """

    def __init__(self, options: Options, training: Training, dim: int, seed: int) -> None:
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

    def energies(self, quadruples: Quadruples, both_sides: bool = False) -> list[Tensor]:
        """Return the scores of the pairs (c, d) as one side: [n]."""
        vectors, c, d = quadruples.vectors, quadruples.c, quadruples.d
        inside = word_mask(vectors)
        maps = self.convolution(self.word_dropout(vectors).transpose(1, 2)).tanh().transpose(1, 2)
        questions, question_words = side_of(maps, inside, c)
        candidates, candidate_words = side_of(maps, inside, d)
        # Multiply the two parts of V that see one side with each sentence once.
        question_part, _ = side_of(self.of_question(maps), inside, c)
        candidate_part, _ = side_of(self.of_candidate(maps), inside, d)
        product_part = self.of_product(questions[:, :, None] * candidates[:, None])
        tensor = (product_part + question_part[:, :, None] + candidate_part[:, None]).tanh()
        rows = tensor.masked_fill(~candidate_words[:, None, :, None], -torch.inf).amax(dim=2)
        first = _attended(rows, question_words, self.question_attention)
        columns = tensor.masked_fill(~question_words[:, :, None, None], -torch.inf).amax(dim=1)
        second = _attended(columns, candidate_words, self.candidate_attention)
        both = self.sentence_dropout(torch.cat([first, second], dim=1))
        return [self.output(both).squeeze(1)]


def _attended(rows: Tensor, inside: Tensor, attention: nn.Linear) -> Tensor:
    """Sum rows [n, t, h] with attention over those inside [n, t]: [n, h]."""
    weights = attention(rows).squeeze(2).masked_fill(~inside, -torch.inf).softmax(dim=1)
    return (weights[:, None] @ rows).squeeze(1)
