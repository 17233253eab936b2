"""Tell words from padding, for rankers that read the vectors of all words."""

import torch
from torch import Tensor


def word_mask(vectors: Tensor) -> Tensor:
    """Return which rows of sentences [u, t, d], padded with zero rows, are words: bool [u, t].

    A sentence ends with its last row that is not zero. So unknown words, which are zero, count
    within a sentence but not at its end. The first row always counts: an empty sentence is read as
    one zero vector.
    """
    positions = torch.arange(1, vectors.shape[1] + 1, device=vectors.device)
    lengths = (vectors.ne(0).any(dim=2) * positions).amax(dim=1)
    return positions <= lengths.clamp(min=1)[:, None]


def side_of(maps: Tensor, inside: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
    """Return one side of n pairs from maps [u, t, h] and inside [u, t]: [n, s, h] and [n, s].

    s is the length of the longest of these sentences. Questions are much shorter than answers, so
    this saves work for everything that is computed for all pairs of words.
    """
    inside = inside[rows]
    longest = int(inside.sum(dim=1).max())
    return maps[rows, :longest], inside[:, :longest]
