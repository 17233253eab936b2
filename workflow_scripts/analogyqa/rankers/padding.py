"""Where the words of a sentence are, for the rankers that read the vectors of all words."""

import torch
from torch import Tensor


def word_mask(vectors: Tensor) -> Tensor:
    """Say of sentences [u, t, d] with zero rows as padding which rows are words: bool [u, t].

    A sentence ends with its last row that is not zero, so unknown words count within it and not at
    its end. The first row always counts: no words are read as one zero vector.
    """
    places = torch.arange(1, vectors.shape[1] + 1, device=vectors.device)
    lengths = (vectors.ne(0).any(dim=2) * places).amax(dim=1)
    return places <= lengths.clamp(min=1)[:, None]


def side_of(maps: Tensor, inside: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
    """Take one side of n pairs from maps [u, t, h] and inside [u, t]: [n, s, h] and [n, s].

    s is the length of the longest of these sentences: questions are much shorter than answers, and
    what is computed of every pair of words is then, too.
    """
    inside = inside[rows]
    longest = int(inside.sum(dim=1).max())
    return maps[rows, :longest], inside[:, :longest]
