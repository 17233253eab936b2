"""Networks that read the words of both sentences of a pair.

AP-CNN and AP-BiLSTM are those of dos Santos et al. (2016, "Attentive Pooling Networks"), AI-CNN is
that of Zhang et al. (2017, "Attentive Interactive Neural Networks for Answer Selection in Community
Question Answering"), compare-aggregate that of Wang and Jiang (2017, "A compare-aggregate model for
matching text sequences", ICLR), and MP-CNN that of He, Gimpel and Lin (2015, "Multi-Perspective
Sentence Similarity Modeling with Convolutional Neural Networks"), which Rao et al. (2016) train on
pairs of candidates. Dropout acts on the word vectors and on what the docstring of a network says.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from analogyqa.encoders.word_vectors import Dropout
from analogyqa.rankers import Quadruples
from analogyqa.rankers.energy import energy
from analogyqa.settings.base import Options
from analogyqa.settings.systems import Training


class WordNetwork(nn.Module):
    """A network that scores pairs of sentences; its initial weights follow from the seed."""

    def __init__(self, options: Options, training: Training, dim: int, seed: int) -> None:
        super().__init__()
        torch.manual_seed(seed)
        self.word_dropout = Dropout(training, "word_vectors")
        self.sentence_dropout = Dropout(training, "sentence_vector")
        self.add_layers(dim, training.sentence_dim)

    def add_layers(self, dim: int, hidden: int) -> None:
        """Create the layers for word vectors of dimension `dim`, of the size h = `hidden`."""
        raise NotImplementedError

    def energies(self, quadruples: Quadruples, both_sides: bool = False) -> list[Tensor]:
        return [self.pair_scores(quadruples.vectors, quadruples.c, quadruples.d)]

    def pair_scores(self, vectors: Tensor, questions: Tensor, candidates: Tensor) -> Tensor:
        """Return the scores of pairs, rows [n] of sentences [u, t, d] padded with zeros: [n]."""
        raise NotImplementedError


def word_mask(vectors: Tensor) -> Tensor:
    """Return which rows of sentences [u, t, d], padded with zero rows, are words: bool [u, t].

    A sentence ends with its last row that is not zero. So unknown words, which are zero, count
    within a sentence but not at its end. The first row always counts: an empty sentence is read as
    one zero vector.
    """
    positions = torch.arange(1, vectors.shape[1] + 1, device=vectors.device)
    lengths = (vectors.ne(0).any(dim=2) * positions).amax(dim=1)
    return positions <= lengths.clamp(min=1)[:, None]


def select_side(maps: Tensor, inside: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
    """Return one side of n pairs from maps [u, t, h] and inside [u, t]: [n, s, h] and [n, s].

    s is the length of the longest of these sentences. Questions are much shorter than answers, so
    this saves work for everything that is computed for all pairs of words.
    """
    inside = inside[rows]
    longest = int(inside.sum(dim=1).max())
    return maps[rows, :longest], inside[:, :longest]


def _placed(values: Tensor, inside: Tensor, elsewhere: float = 0) -> Tensor:
    """Place the rows of values [w, h] where `inside` [n, t] is true: [n, t, h]."""
    placed = values.new_full((*inside.shape, values.shape[1]), elsewhere)
    placed[inside] = values
    return placed


def _attended(rows: Tensor, importance: Tensor) -> Tensor:
    """Sum rows [n, t, h] weighted by the softmax of importances [n, t]: [n, h]."""
    return (importance.softmax(dim=1)[:, None] @ rows).squeeze(1)


class AttentivePooling(WordNetwork):
    """What AP-CNN and AP-BiLSTM share: each side is pooled with attention to the other (section 3).

    The maps Q [s, h] of a question and A [t, h] of a candidate have a row for each word. The maxima
    of the rows and columns of G = tanh(Q U A^T) [s, t], after a softmax, weight the rows of Q and
    A. The score is the cosine of the two weighted sums [h], which have dropout.

    Parameters: h^2 for U, besides those of the maps.
    """

    def add_layers(self, dim: int, hidden: int) -> None:
        self.interaction = nn.Linear(hidden, hidden, bias=False)

    def rows(self, x: Tensor, inside: Tensor) -> Tensor:
        """Return a row for each of the N words in x [u, t, d], marked by `inside`: [N, h]."""
        raise NotImplementedError

    def pair_scores(self, vectors: Tensor, questions: Tensor, candidates: Tensor) -> Tensor:
        inside = word_mask(vectors)
        rows = self.rows(self.word_dropout(vectors), inside)
        maps = _placed(rows, inside)
        question_maps, question_words = select_side(maps, inside, questions)
        candidate_maps, candidate_words = select_side(maps, inside, candidates)
        # Multiply U with each sentence once instead of with each pair.
        projected, _ = select_side(_placed(self.interaction(rows), inside), inside, candidates)
        match = torch.tanh(question_maps @ projected.transpose(1, 2))
        are_words = question_words[:, :, None] & candidate_words[:, None]
        match = match.masked_fill(~are_words, -torch.inf)
        first = self.sentence_dropout(_attended(question_maps, match.amax(dim=2)))
        second = self.sentence_dropout(_attended(candidate_maps, match.amax(dim=1)))
        return energy(first, second)


WIDTH = 5  # words that a filter of AP-CNN sees


class APCNNRanker(AttentivePooling):
    """AP-CNN: the maps are a convolution with h = `sentence_dim` filters, a row for each word.

    A filter sees a word and two words on each side, with zeros around the sentence. The maps have
    no non-linearity, because the paper's equations have none before the attention.

    Parameters: h (5d + 1) + h^2; that is 540,300 for d = h = 300, the 540K that HyperQA prints. We
    take the width from this number.
    """

    def add_layers(self, dim: int, hidden: int) -> None:
        super().add_layers(dim, hidden)
        self.convolution = nn.Linear(WIDTH * dim, hidden)

    def rows(self, x: Tensor, inside: Tensor) -> Tensor:
        windows = F.pad(x, (0, 0, WIDTH // 2, WIDTH // 2)).unfold(1, WIDTH, 1).transpose(2, 3)
        return self.convolution(windows[inside].flatten(1))


class APBiLSTMRanker(AttentivePooling):
    """AP-BiLSTM: the maps are the states of a BiLSTM, h = `sentence_dim` for both directions.

    Parameters: 4h (d + h/2 + 2) + h^2; that is 1,804,800 for d = 300 and h = 600, the 1.80M that
    HyperQA prints. PyTorch's LSTM has two biases instead of one, which are 4h of these.
    """

    def add_layers(self, dim: int, hidden: int) -> None:
        super().add_layers(dim, hidden)
        self.lstm = nn.LSTM(dim, hidden // 2, batch_first=True, bidirectional=True)

    def rows(self, x: Tensor, inside: Tensor) -> Tensor:
        lengths = inside.sum(dim=1).cpu()
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        states, _ = self.lstm(packed)
        return pad_packed_sequence(states, batch_first=True, total_length=x.shape[1])[0][inside]


AI_WIDTH = 3  # words that a filter of AI-CNN sees


class AICNNRanker(WordNetwork):
    """AI-CNN: attentive pooling over a 3D tensor, which has a vector for each pair of words.

    A convolution with tanh gives the maps Q [s, h] of a question and A [t, h] of a candidate, with
    h = `sentence_dim`. Two words interact as T_ij = tanh(V [q_i; a_j; q_i * a_j] + b) [h]. The
    maxima over j give r [s, h], what each word of the question finds in the candidate; the
    maxima over i give p [t, h], the same for the candidate. Each side is the sum of its rows
    weighted by softmax(w r_i), with a separate w for each side. The score is linear in both sums,
    which have dropout.

    We know only the abstract of the paper. It gives the convolution, the interactions of all pairs
    of segments, the pooling of rows and columns, the attention, and the sum. Our choices are
    AI_WIDTH, tanh, the forms of T and of the attention, the size h of T, and the maximum (instead
    of the k largest). T needs the product: without it, T_ij = tanh(x_i + y_j), whose maximum over j
    depends on y_j alone, so nothing would interact.

    For n pairs, time grows as n s t h^2 and memory as n s t h.

    Parameters: h (3d + 1) + h (3h + 1) + 2h + (2h + 1) = 3h^2 + (3d + 6) h + 1; that is 120,601 for
    d = 300 and h = 100. HyperQA prints 140K, with its own vectors of an unknown size.
    """

    def add_layers(self, dim: int, hidden: int) -> None:
        self.convolution = nn.Conv1d(dim, hidden, AI_WIDTH, padding=AI_WIDTH // 2)
        self.of_question = nn.Linear(hidden, hidden)
        self.of_candidate = nn.Linear(hidden, hidden, bias=False)
        self.of_product = nn.Linear(hidden, hidden, bias=False)
        self.question_attention = nn.Linear(hidden, 1, bias=False)
        self.candidate_attention = nn.Linear(hidden, 1, bias=False)
        self.output = nn.Linear(2 * hidden, 1)

    def pair_scores(self, vectors: Tensor, questions: Tensor, candidates: Tensor) -> Tensor:
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
        columns = tensor.masked_fill(~question_words[:, :, None, None], -torch.inf).amax(dim=1)
        sides = (
            (rows, self.question_attention, question_words),
            (columns, self.candidate_attention, candidate_words),
        )
        sums = [
            _attended(side, attention(side).squeeze(2).masked_fill(~is_word, -torch.inf))
            for side, attention, is_word in sides
        ]
        return self.output(self.sentence_dropout(torch.cat(sums, dim=1))).squeeze(1)


WIDTHS = (1, 2, 3, 4, 5)  # words that a filter of compare-aggregate sees
PAIRS = 64  # pairs in a block; their candidates have similar lengths, so there is little padding


class CompareAggregateRanker(WordNetwork):
    """Compares each word of a candidate with the part of the question that it attends to.

    Each word vector x becomes sigmoid(W x + b) * tanh(U x + c) [h] (eq. 1), with h =
    `sentence_dim`. This gives the question Q [s, h] and the candidate A [t, h]. Each word of the
    candidate attends to the question: G = softmax((Q V + v) A^T) over the words of the question, H
    = G^T Q [t, h] (eq. 2). The comparison is the product T = A * H (eq. 6). Convolutions over 1 to
    5 words, with h filters each, are applied to T; their maxima over the words [5 h], which have
    dropout, go through a layer of size h with tanh, which gives the score (section 2.4). The
    filters have a ReLU, as in Kim (2014), on which the paper builds.

    Parameters: 2 h (d + 1) + h (h + 1) for the projection and the attention, 15 h^2 + 5 h for the
    filters, 5 h^2 + h and h + 1 for the output.
    """

    def add_layers(self, dim: int, hidden: int) -> None:
        self.gate = nn.Linear(dim, hidden)
        self.content = nn.Linear(dim, hidden)
        self.attention = nn.Linear(hidden, hidden)
        self.convolutions = nn.ModuleList(nn.Conv1d(hidden, hidden, width) for width in WIDTHS)
        self.layer = nn.Linear(len(WIDTHS) * hidden, hidden)
        self.output = nn.Linear(hidden, 1)

    def pair_scores(self, vectors: Tensor, questions: Tensor, candidates: Tensor) -> Tensor:
        inside = word_mask(vectors)
        lengths = inside.sum(dim=1)
        # Apply the layers to words only, since most positions of a batch are padding.
        x = self.word_dropout(vectors[inside])
        words = self.gate(x).sigmoid() * self.content(x).tanh()
        # Multiply V with each question once instead of with each pair.
        distinct, number = questions.unique(return_inverse=True)
        question_words = words[_word_rows(distinct, lengths)]
        is_question_word = _within(lengths[distinct])
        question_maps = _placed(question_words, is_question_word)
        projected = _placed(self.attention(question_words), is_question_word)
        # Select the words of all candidates at once: each selection has a gradient of full size.
        order = lengths[candidates].argsort(stable=True)
        blocks = order.split(PAIRS)
        counts = [int(lengths[candidates[rows]].sum()) for rows in blocks]
        candidate_words = words[_word_rows(candidates[order], lengths)].split(counts)
        scores = []
        for rows, block_words in zip(blocks, candidate_words, strict=True):
            numbers = number[rows]
            is_word = _within(lengths[candidates[rows]])
            candidate = _placed(block_words, is_word)
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


WINDOWS = (1, 2, 3)  # words that a filter of MP-CNN sees; another window is the whole sentence
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
    two windows of block A and of corresponding vectors [d] of block B. These 174d + 336 features
    have dropout. A layer of size h = `sentence_dim` with tanh (150 in the paper) then gives one
    score. The paper has two classes and a log-softmax; ranking by the difference of their outputs
    is the same, with h + 1 more weights.

    Parameters: 24d^2 + 15d for block A, 360 for block B, and (174d + 337) h + h + 1; that is
    10,045,561 for d = 300 and h = 150, the 10.0M that HyperQA prints. This is the network that the
    authors of the second paper released: a convolution of width 2 or 3 follows one of width 1 with
    tanh, each pooling has its own filters, and all dimensions share the filters of block B. Without
    the additional convolutions, it would have 9.5M. Their released pairwise network has no hidden
    layer and 2.2M; ours is the same for both.

    A sentence shorter than a filter is padded with zeros. Scoring needs 0.2 MB for the features of
    each pair, and temporarily several times as much.
    """

    def add_layers(self, dim: int, hidden: int) -> None:
        self.holistic = nn.ModuleList(
            nn.ModuleList(_holistic(dim, width) for width in WINDOWS) for _ in range(3)
        )
        self.per_dimension = nn.ModuleList(
            nn.ModuleList(nn.Conv2d(1, FILTERS, (1, width)) for width in WINDOWS) for _ in range(2)
        )
        windows, vectors = len(WINDOWS) + 1, 2 * len(WINDOWS) * FILTERS
        features = 3 * dim * 2 + (3 * windows**2 + vectors) * (2 + dim)
        self.hidden = nn.Linear(features, hidden)
        self.output = nn.Linear(hidden, 1)

    def pair_scores(self, vectors: Tensor, questions: Tensor, candidates: Tensor) -> Tensor:
        lengths = word_mask(vectors).sum(dim=1)
        vectors = self.word_dropout(vectors).transpose(1, 2)
        filled = F.pad(vectors, (0, max(WINDOWS) - 1))
        # The number of positions of the filters of each width.
        counts = [(lengths - width + 1).clamp(min=1) for width in WINDOWS]
        block_a = []
        for pool, layers in zip(("max", "min", "mean"), self.holistic, strict=True):
            for count, convolution in zip(counts, layers.children(), strict=True):
                block_a.append(_pooled(pool, convolution(filled).tanh(), count))
            block_a.append(_pooled(pool, vectors, lengths))
        block_b = [
            _extremes(filters, filled, count, largest)
            for largest, layers in zip((True, False), self.per_dimension, strict=True)
            for count, filters in zip(counts, layers.children(), strict=True)
        ]
        a = torch.stack(block_a, dim=1).unflatten(1, (3, -1))
        b = torch.cat(block_b, dim=1).tanh()  # it is monotonic, so it can follow the pooling
        features = _features(a[questions], a[candidates], b[questions], b[candidates])
        hidden = self.hidden(self.sentence_dropout(features)).tanh()
        return self.output(hidden).squeeze(1)


def _holistic(dim: int, width: int) -> nn.Module:
    convolution = nn.Conv1d(dim, dim, width)
    if width == 1:
        return convolution
    return nn.Sequential(nn.Conv1d(dim, dim, 1), nn.Tanh(), convolution)


def _beyond(maps: Tensor, counts: Tensor) -> Tensor:
    """Return which positions of maps [u, .., t] in the last dimension are beyond counts [u]."""
    beyond = torch.arange(maps.shape[-1], device=maps.device) >= counts[:, None]
    return beyond.view(len(maps), *[1] * (maps.ndim - 2), -1)


def _pooled(pool: str, maps: Tensor, counts: Tensor) -> Tensor:
    """Return the max, min or mean of maps [u, d, t] over the first counts [u] positions: [u, d]."""
    beyond = _beyond(maps, counts)
    if pool == "mean":
        return maps.masked_fill(beyond, 0).sum(dim=-1) / counts[:, None]
    # Not `amax`: its gradient, which equal values share, takes much longer.
    if pool == "max":
        return maps.masked_fill(beyond, -torch.inf).max(dim=-1).values
    return maps.masked_fill(beyond, torch.inf).min(dim=-1).values


def _extremes(filters: nn.Module, filled: Tensor, counts: Tensor, largest: bool) -> Tensor:
    """Return the largest or smallest value of each filter in each dimension: [u, 20, d].

    Find its position without gradients, then compute its value with them. Gradients of all values
    [u, 20, d, t] would need most of the time and memory of a training step.
    """
    channel = filled[:, None]
    with torch.no_grad():
        maps = filters(channel)
        maps.masked_fill_(_beyond(maps, counts), -torch.inf if largest else torch.inf)
        positions = (maps.argmax(dim=-1) if largest else maps.argmin(dim=-1))[..., None]
    weight, bias = filters.parameters()
    channels = channel.expand(-1, FILTERS, -1, -1)
    offsets = range(weight.shape[3])
    window = torch.cat([channels.gather(3, positions + offset) for offset in offsets], dim=3)
    return (window * weight[:, 0]).sum(dim=3) + bias[:, None]


def _features(first_a: Tensor, second_a: Tensor, first_b: Tensor, second_b: Tensor) -> Tensor:
    """Compare blocks A [n, 3, 4, d] and B [n, 120, d] of two sentences: [n, 174d + 336]."""
    every, other = first_a[:, :, :, None], second_a[:, :, None]
    compared = [
        *_cosine_and_distance(first_a, second_a, dim=2),
        *(*_cosine_and_distance(every, other, dim=-1), (every - other).abs()),
        *(*_cosine_and_distance(first_b, second_b, dim=-1), (first_b - second_b).abs()),
    ]
    return torch.cat([part.flatten(1) for part in compared], dim=1)


def _cosine_and_distance(first: Tensor, second: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    distance = torch.linalg.vector_norm(first - second, dim=dim)
    return F.cosine_similarity(first, second, dim=dim), distance
