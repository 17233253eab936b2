"""Networks that pool each side of a pair with attention to the other side.

AP-CNN and AP-BiLSTM are those of dos Santos et al. (2016, "Attentive Pooling Networks"), and AI-CNN
is that of Zhang et al. (2017, "Attentive Interactive Neural Networks for Answer Selection in
Community Question Answering").
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from analogyqa.rankers.energy import energy
from analogyqa.rankers.words import WordNetwork, select_side, word_mask
from analogyqa.settings.base import Options
from analogyqa.settings.systems import Training

WIDTH = 5  # words that a filter of AP-CNN sees


class AttentivePooling(WordNetwork):
    """What AP-CNN and AP-BiLSTM share: each side is pooled with attention to the other (section 3).

    The maps Q [s, h] of a question and A [t, h] of a candidate have a row for each word. The maxima
    of the rows and columns of G = tanh(Q U A^T) [s, t], after a softmax, weight the rows of Q and
    A. The score is the cosine of the two weighted sums [h].

    Parameters: h^2 for U, besides those of the maps. The dropout of the training section acts on
    the word vectors and on the two sums; the paper has none.
    """

    def __init__(self, options: Options, training: Training, dim: int, seed: int) -> None:
        super().__init__(options, training, dim, seed)
        hidden = training.sentence_dim
        self.interaction = nn.Linear(hidden, hidden, bias=False)

    def rows(self, x: Tensor, inside: Tensor) -> Tensor:
        """Return a row for each of the N words among vectors [u, t, d], marked by `inside`: [N, h].

        Most of a batch is padding, so rows are computed for words only.
        """
        raise NotImplementedError

    def pair_scores(self, vectors: Tensor, questions: Tensor, candidates: Tensor) -> Tensor:
        """Return the scores of pairs [n]; see `WordNetwork`."""
        inside = word_mask(vectors)
        rows = self.rows(self.word_dropout(vectors), inside)
        maps = _padded(rows, inside)
        question_maps, question_words = select_side(maps, inside, questions)
        candidate_maps, candidate_words = select_side(maps, inside, candidates)
        # Multiply U with each sentence once instead of with each pair.
        projected, _ = select_side(_padded(self.interaction(rows), inside), inside, candidates)
        match = torch.tanh(question_maps @ projected.transpose(1, 2))
        are_words = question_words[:, :, None] & candidate_words[:, None]
        match = match.masked_fill(~are_words, -torch.inf)
        first = self.sentence_dropout(_pooled(question_maps, match.amax(dim=2)))
        second = self.sentence_dropout(_pooled(candidate_maps, match.amax(dim=1)))
        return energy(first, second)


class APCNNRanker(AttentivePooling):
    """AP-CNN: the maps are a convolution with h = `sentence_dim` filters, a row for each word.

    A filter sees a word and two words on each side, with zeros around the sentence. The maps have
    no non-linearity, because the paper's equations have none before the attention.

    Parameters: h (5d + 1) + h^2; that is 540,300 for d = h = 300, the 540K that HyperQA prints. We
    take the width from this number.
    """

    def __init__(self, options: Options, training: Training, dim: int, seed: int) -> None:
        super().__init__(options, training, dim, seed)
        self.convolution = nn.Linear(WIDTH * dim, training.sentence_dim)

    def rows(self, x: Tensor, inside: Tensor) -> Tensor:
        before = (WIDTH - 1) // 2
        around = F.pad(x, (0, 0, before, WIDTH - 1 - before))
        windows = around.unfold(1, WIDTH, 1).transpose(2, 3)
        return self.convolution(windows[inside].flatten(1))


class APBiLSTMRanker(AttentivePooling):
    """AP-BiLSTM: the maps are the states of a BiLSTM, h = `sentence_dim` for both directions.

    Parameters: 4h (d + h/2 + 2) + h^2; that is 1,804,800 for d = 300 and h = 600, the 1.80M that
    HyperQA prints. PyTorch's LSTM has two biases instead of one, which are 4h of these.
    """

    def __init__(self, options: Options, training: Training, dim: int, seed: int) -> None:
        super().__init__(options, training, dim, seed)
        half = training.sentence_dim // 2
        self.lstm = nn.LSTM(dim, half, batch_first=True, bidirectional=True)

    def rows(self, x: Tensor, inside: Tensor) -> Tensor:
        lengths = inside.sum(dim=1).cpu()
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        states, _ = self.lstm(packed)
        padded, _ = pad_packed_sequence(states, batch_first=True, total_length=x.shape[1])
        return padded[inside]


def _padded(rows: Tensor, inside: Tensor) -> Tensor:
    """Put the rows [N, h] of words into sentences that are padded with zeros: [u, t, h]."""
    return rows.new_zeros(*inside.shape, rows.shape[1]).masked_scatter(inside[..., None], rows)


def _pooled(maps: Tensor, importance: Tensor) -> Tensor:
    """Sum maps [n, t, h] weighted by the softmax of importances [n, t]: [n, h]."""
    return (importance.softmax(dim=1)[:, None] @ maps).squeeze(1)


AI_WIDTH = 3  # words that a filter sees


class AICNNRanker(WordNetwork):
    """Attentive pooling over a 3D tensor, which has a vector for each pair of words.

    A convolution with tanh gives the maps Q [s, h] of a question and A [t, h] of a candidate, with
    h = `sentence_dim`. Two words interact as T_ij = tanh(V [q_i; a_j; q_i * a_j] + b) [h]. The
    maxima over j give r [s, h], what each word of the question finds in the candidate; the
    maxima over i give p [t, h], the same for the candidate. Each side is the sum of its rows
    weighted by softmax(w r_i), with a separate w for each side. The score is linear in both sums.

    We know only the abstract of the paper. It gives the convolution, the interactions of all pairs
    of segments, the pooling of rows and columns, the attention, and the sum. Our choices are
    AI_WIDTH, tanh, the forms of T and of the attention, the size h of T, and the maximum (instead
    of the k largest). T needs the product: without it, T_ij = tanh(x_i + y_j), whose maximum over j
    depends on y_j alone, so nothing would interact. The dropout of the training section acts on the
    word vectors and on the two sums.

    For n pairs, time grows as n s t h^2 and memory as n s t h.

    Parameters: h (3d + 1) + h (3h + 1) + 2h + (2h + 1) = 3h^2 + (3d + 6) h + 1; that is 120,601 for
    d = 300 and h = 100. HyperQA prints 140K, with its own vectors of an unknown size.
    """

    def __init__(self, options: Options, training: Training, dim: int, seed: int) -> None:
        super().__init__(options, training, dim, seed)
        hidden = training.sentence_dim
        self.convolution = nn.Conv1d(dim, hidden, AI_WIDTH, padding=AI_WIDTH // 2)
        self.of_question = nn.Linear(hidden, hidden)
        self.of_candidate = nn.Linear(hidden, hidden, bias=False)
        self.of_product = nn.Linear(hidden, hidden, bias=False)
        self.question_attention = nn.Linear(hidden, 1, bias=False)
        self.candidate_attention = nn.Linear(hidden, 1, bias=False)
        self.output = nn.Linear(2 * hidden, 1)

    def pair_scores(self, vectors: Tensor, questions: Tensor, candidates: Tensor) -> Tensor:
        """Return the scores of pairs [n]; see `WordNetwork`."""
        inside = word_mask(vectors)
        maps = self.convolution(self.word_dropout(vectors).transpose(1, 2)).tanh().transpose(1, 2)
        question_maps, question_words = select_side(maps, inside, questions)
        candidate_maps, candidate_words = select_side(maps, inside, candidates)
        # Multiply the two parts of V that see one side with each sentence once.
        question_part, _ = select_side(self.of_question(maps), inside, questions)
        candidate_part, _ = select_side(self.of_candidate(maps), inside, candidates)
        product_part = self.of_product(question_maps[:, :, None] * candidate_maps[:, None])
        tensor = (product_part + question_part[:, :, None] + candidate_part[:, None]).tanh()
        rows = tensor.masked_fill(~candidate_words[:, None, :, None], -torch.inf).amax(dim=2)
        first = _attended(rows, question_words, self.question_attention)
        columns = tensor.masked_fill(~question_words[:, :, None, None], -torch.inf).amax(dim=1)
        second = _attended(columns, candidate_words, self.candidate_attention)
        both = self.sentence_dropout(torch.cat([first, second], dim=1))
        return self.output(both).squeeze(1)


def _attended(rows: Tensor, inside: Tensor, attention: nn.Linear) -> Tensor:
    """Sum rows [n, t, h] with attention over those inside [n, t]: [n, h]."""
    weights = attention(rows).squeeze(2).masked_fill(~inside, -torch.inf).softmax(dim=1)
    return (weights[:, None] @ rows).squeeze(1)
