"""Rankers that are trained, small; and the pairs of a few sentences to rank with them."""

import torch
from torch import Tensor, nn

from analogyqa.rankers import Quadruples
from analogyqa.rankers.specs import RANKERS
from analogyqa.settings.systems import System, Training

DIM = 5
LENGTHS = [3, 7, 1, 0, 2, 5]
# Pairs of the sentences of such lengths.
C, D = [0, 0, 2, 3, 3, 5, 4], [1, 2, 2, 1, 3, 0, 3]


def build(name: str, seed: int = 0, dim: int = DIM, **training) -> nn.Module:
    """Return a new ranker."""
    own = {"encoder": "words", "vectors": "v", "training": {"loss": "pairwise"}}
    system = System(title="R", ranker=name, **own)
    settings = Training(**{"sentence_dim": 6, "dropout": 0.0} | training)
    return RANKERS[name].load()(system.ranker, settings, dim, seed)


def sentences(lengths: list[int] = LENGTHS, more: int = 0) -> Tensor:
    """Return the word vectors of sentences, and behind them some more rows of zeros than needed."""
    generator = torch.Generator().manual_seed(0)
    vectors = torch.randn(len(lengths), 9, DIM, generator=generator)
    vectors[torch.arange(9) >= torch.tensor(lengths)[:, None]] = 0
    return nn.functional.pad(vectors[:, : max(*lengths, 1)], (0, 0, 0, more))


def scores(ranker: nn.Module, vectors: Tensor, c: list[int] = C, d: list[int] = D) -> Tensor:
    """Return the scores of pairs, rows of the sentences."""
    c, d = torch.tensor(c), torch.tensor(d)
    (found,) = ranker.energies(Quadruples(vectors, c[:0], c[:0], c, d))
    return found
