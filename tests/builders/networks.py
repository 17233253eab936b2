"""Small trained rankers, pairs of sentences to rank with them, and an LSTM by its equations."""

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
    encoder = "words" if RANKERS[name].reads == "words" else "nbow"
    values = {"encoder": encoder, "vectors": "v", "training": {"loss": "pairwise"}}
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
    """Compare the scores of all pairs with `by_hand(ranker, question, candidate)`."""
    ranker, vectors = build(name), sentences()
    with torch.no_grad():
        for score, c, d in zip(scores(ranker, vectors), C, D, strict=True):
            question, candidate = (vectors[row, : max(LENGTHS[row], 1)] for row in (c, d))
            torch.testing.assert_close(score, by_hand(ranker, question, candidate), **tolerance)


def convolve(
    words: Tensor, weight: Tensor, bias: Tensor, before: int = 0, after: int = 0
) -> Tensor:
    """Apply filters [f, d, width] to words [t, d] with zeros around: [windows, f]."""
    windows = nn.functional.pad(words, (0, 0, before, after)).unfold(0, weight.shape[2], 1)
    return (windows[:, None] * weight).sum(dim=(2, 3)) + bias


def bilstm_maximum(weights: dict[str, Tensor], words: Tensor) -> Tensor:
    """Return the maximum over the states of each direction of an LSTM, step by step.

    Args:
        weights: The parameters by the names that `nn.LSTM` gives them; the gates are i, f, g, o.
        words: The word vectors of a sentence [t, dim].
    """
    maxima = []
    for direction in ("", "_reverse"):
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        of_word, of_state, *biases = (weights[f"{name}_l0{direction}"] for name in names)
        state = memory = words.new_zeros(of_state.shape[1])
        states = []
        for word in words.flip(0) if direction else words:
            i, f, g, o = (of_word @ word + of_state @ state + sum(biases)).chunk(4)
            memory = f.sigmoid() * memory + i.sigmoid() * g.tanh()
            state = o.sigmoid() * memory.tanh()
            states.append(state)
        maxima.append(torch.stack(states).amax(dim=0))
    return torch.cat(maxima)
