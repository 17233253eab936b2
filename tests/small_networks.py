"""Small rankers that are trained, and the pairs of a few sentences to rank with them."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from analogyqa.rankers import Quadruples
from analogyqa.rankers.specs import RANKERS
from analogyqa.settings.systems import System, Training

DIM = 5
LENGTHS = [3, 7, 1, 0, 2, 5]
# Pairs of sentences, by their rows.
C, D = [0, 0, 2, 3, 3, 5, 4], [1, 2, 2, 1, 3, 0, 3]


def build(name: str, seed: int = 0, dim: int = DIM, **training) -> nn.Module:
    """Return a new ranker."""
    values = {"encoder": "words", "vectors": "v", "training": {"loss": "pairwise"}}
    system = System(title="R", ranker=name, **values)
    settings = Training(**{"sentence_dim": 6, "dropout": 0.0} | training)
    return RANKERS[name].load()(system.ranker, settings, dim, seed)


def sentences(lengths: list[int] = LENGTHS, padding: int = 0) -> Tensor:
    """Return the word vectors of sentences, with more rows of padding than needed."""
    generator = torch.Generator().manual_seed(0)
    vectors = torch.randn(len(lengths), 9, DIM, generator=generator)
    vectors[torch.arange(9) >= torch.tensor(lengths)[:, None]] = 0
    return nn.functional.pad(vectors[:, : max(*lengths, 1)], (0, 0, 0, padding))


def scores(ranker: nn.Module, vectors: Tensor, c: list[int] = C, d: list[int] = D) -> Tensor:
    """Return the scores of pairs of sentences, given by their rows."""
    c, d = torch.tensor(c), torch.tensor(d)
    (energies,) = ranker.energies(Quadruples(vectors, c[:0], c[:0], c, d))
    return energies


def assert_scores_equal(name: str, by_hand: Callable[..., Tensor], **tolerance: float) -> None:
    """Compare the scores of all pairs with those of a function of ranker and word vectors."""
    ranker, vectors = build(name), sentences()
    with torch.no_grad():
        for score, c, d in zip(scores(ranker, vectors), C, D, strict=True):
            question, candidate = (vectors[row, : max(LENGTHS[row], 1)] for row in (c, d))
            torch.testing.assert_close(score, by_hand(ranker, question, candidate), **tolerance)
