"""Compare-aggregate, against its equations for one pair, word by word."""

import torch

from analogyqa.rankers.compare_aggregate import WIDTHS
from builders.networks import assert_scores_equal


def by_hand(ranker, question, candidate):
    q, a = (
        [ranker.gate(x).sigmoid() * ranker.content(x).tanh() for x in words]
        for words in (question, candidate)
    )
    compared = []
    for word in a:
        match = torch.stack([ranker.attention(other) @ word for other in q]).softmax(dim=0)
        compared.append(word * sum(weight * other for weight, other in zip(match, q, strict=True)))
    maxima = []
    for width, convolution in zip(WIDTHS, ranker.convolutions, strict=True):
        filled = torch.stack([*compared, *[torch.zeros_like(compared[0])] * (width - 1)])
        windows = [filled[start : start + width].T for start in range(len(compared))]
        values = [
            ((convolution.weight * window).sum(dim=(1, 2)) + convolution.bias).relu()
            for window in windows
        ]
        maxima.append(torch.stack(values).amax(dim=0))
    return ranker.output(ranker.layer(torch.cat(maxima)).tanh())[0]


def test_scores_match_the_equations():
    assert_scores_equal("compare_aggregate", by_hand)
