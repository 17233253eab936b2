"""What networks that read the words of both sentences of a pair have in common."""

import torch
from torch import Tensor, nn

from analogyqa.encoders.word_vectors import Dropout
from analogyqa.rankers import Quadruples
from analogyqa.settings.base import Options
from analogyqa.settings.systems import Training


class WordNetwork(nn.Module):
    """A network that scores pairs of sentences, with dropout at two places.

    It seeds PyTorch, so the layers that a subclass then creates follow from the seed. Where a
    network has which dropout is said in its docstring.
    """

    def __init__(self, options: Options, training: Training, dim: int, seed: int) -> None:
        super().__init__()
        torch.manual_seed(seed)
        self.word_dropout = Dropout(training, "word_vectors")
        self.sentence_dropout = Dropout(training, "sentence_vector")

    def energies(self, quadruples: Quadruples, both_sides: bool = False) -> list[Tensor]:
        """Return the scores of the pairs (c, d) as one side: [n]."""
        return [self.pair_scores(quadruples.vectors, quadruples.c, quadruples.d)]

    def pair_scores(self, vectors: Tensor, questions: Tensor, candidates: Tensor) -> Tensor:
        """Return the scores [n] of pairs, given by the rows [n] of both sides in vectors [u, t, d].

        Sentences are padded with zeros.
        """
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
