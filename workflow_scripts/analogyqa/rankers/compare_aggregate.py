"""Compare-aggregate (Wang and Jiang 2017, "A compare-aggregate model for matching text sequences",
ICLR)."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from analogyqa.rankers.words import WordNetwork, word_mask
from analogyqa.settings.base import Options
from analogyqa.settings.systems import Training

WIDTHS = (1, 2, 3, 4, 5)  # words that a filter sees
PAIRS = 64  # pairs in a block; their candidates have similar lengths, so there is little padding


class CompareAggregateRanker(WordNetwork):
    """Compares each word of a candidate with the part of the question that it attends to.

    Each word vector x becomes sigmoid(W x + b) * tanh(U x + c) [h] (eq. 1), with h =
    `sentence_dim`. This gives the question Q [s, h] and the candidate A [t, h]. Each word of the
    candidate attends to the question: G = softmax((Q V + v) A^T) over the words of the question, H
    = G^T Q [t, h] (eq. 2). The comparison is the product T = A * H (eq. 6). Convolutions over 1 to
    5 words, with h filters each, are applied to T; their maxima over the words [5 h] go through a
    layer of size h with tanh, which gives the score (section 2.4).

    The filters have a ReLU, as in Kim (2014), on which the paper builds. The dropout of the
    training section acts on the word vectors and on the maxima.

    Parameters: 2 h (d + 1) + h (h + 1) for the projection and the attention, 15 h^2 + 5 h for the
    filters, 5 h^2 + h and h + 1 for the output.
    """

    def __init__(self, options: Options, training: Training, dim: int, seed: int) -> None:
        super().__init__(options, training, dim, seed)
        hidden = training.sentence_dim
        self.gate = nn.Linear(dim, hidden)
        self.content = nn.Linear(dim, hidden)
        self.attention = nn.Linear(hidden, hidden)
        self.convolutions = nn.ModuleList(nn.Conv1d(hidden, hidden, width) for width in WIDTHS)
        self.layer = nn.Linear(len(WIDTHS) * hidden, hidden)
        self.output = nn.Linear(hidden, 1)

    def pair_scores(self, vectors: Tensor, questions: Tensor, candidates: Tensor) -> Tensor:
        """Return the scores of pairs [n]; see `WordNetwork`."""
        inside = word_mask(vectors)
        lengths = inside.sum(dim=1)
        # Apply the layers to words only, since most positions of a batch are padding.
        x = self.word_dropout(vectors[inside])
        words = self.gate(x).sigmoid() * self.content(x).tanh()
        # Multiply V with each question once instead of with each pair.
        distinct, number = questions.unique(return_inverse=True)
        question_words = words[_word_rows(distinct, lengths)]
        is_question_word = _within(lengths[distinct])
        question_maps = _placed(question_words, is_question_word, 0)
        projected = _placed(self.attention(question_words), is_question_word, 0)
        # Select the words of all candidates at once: each selection has a gradient of full size.
        order = lengths[candidates].argsort(stable=True)
        blocks = order.split(PAIRS)
        counts = [int(lengths[candidates[rows]].sum()) for rows in blocks]
        candidate_words = words[_word_rows(candidates[order], lengths)].split(counts)
        scores = []
        for rows, block_words in zip(blocks, candidate_words, strict=True):
            numbers = number[rows]
            is_word = _within(lengths[candidates[rows]])
            candidate = _placed(block_words, is_word, 0)
            match = candidate @ projected[numbers].transpose(1, 2)
            match = match.masked_fill(~is_question_word[numbers][:, None], -torch.inf)
            attended = match.softmax(dim=2) @ question_maps[numbers]
            pooled = torch.cat(self._maxima(candidate * attended, is_word), dim=1)
            hidden = self.layer(self.sentence_dropout(pooled)).tanh()
            scores.append(self.output(hidden).squeeze(1))
        return torch.cat(scores)[order.argsort()]

    def _maxima(self, compared: Tensor, is_word: Tensor) -> list[Tensor]:
        """Return the maxima [n, h] of the filters of each width that start within a candidate.

        All candidates are joined to one sequence, with zeros between them for the widest filter.
        """
        gap = max(WIDTHS) - 1
        joined = F.pad(is_word, (gap, 0), value=True)  # t words occupy t + gap positions
        sequence = F.pad(compared.masked_fill(~is_word[:, :, None], 0), (0, 0, 0, gap))[joined].T
        starts = F.pad(is_word, (0, gap))[joined]
        pooled = []
        for width, convolution in zip(WIDTHS, self.convolutions, strict=True):
            maps = F.pad(convolution(sequence[None])[0], (0, width - 1))
            pooled.append(_placed(maps.T[starts].relu(), is_word, -torch.inf).amax(dim=1))
        return pooled


def _within(lengths: Tensor) -> Tensor:
    """Return which positions are within sentences of lengths [n]: bool [n, longest]."""
    return torch.arange(int(lengths.max()), device=lengths.device) < lengths[:, None]


def _word_rows(sentences: Tensor, lengths: Tensor) -> Tensor:
    """Return the rows [w] of the words of some sentences [n], given the lengths of all [u]."""
    selected = lengths[sentences]
    shift = (lengths.cumsum(0) - lengths)[sentences] - (selected.cumsum(0) - selected)
    words = torch.arange(int(selected.sum()), device=selected.device)
    return words + shift.repeat_interleave(selected)


def _placed(values: Tensor, inside: Tensor, elsewhere: float) -> Tensor:
    """Place the rows of values [w, h] where `inside` [n, t] is true: [n, t, h]."""
    placed = values.new_full((*inside.shape, values.shape[1]), elsewhere)
    placed[inside] = values
    return placed
