"""AP-CNN and AP-BiLSTM, against the equations of the paper for one pair, word by word."""

import math

import pytest

from analogyqa.rankers.attentive_pooling import WIDTH
from builders.networks import assert_scores_equal


def maps_of(ranker, words):
    """Return the maps of one sentence, a list of vectors."""
    if hasattr(ranker, "lstm"):
        return list(ranker.lstm(words)[0])
    bias, dim = ranker.convolution.bias, words.shape[1]
    weight = ranker.convolution.weight.view(-1, WIDTH, dim)
    maps = []
    for position in range(len(words)):
        total = bias.clone()
        for offset in range(WIDTH):  # two words before, two after
            if 0 <= (row := position + offset - 2) < len(words):
                total = total + weight[:, offset] @ words[row]
        maps.append(total)
    return maps


def pooled(maps, importance):
    weights = [math.exp(value) for value in importance]
    return sum(weight / sum(weights) * vector for weight, vector in zip(weights, maps, strict=True))


def by_hand(ranker, question, candidate):
    q, a = maps_of(ranker, question), maps_of(ranker, candidate)
    u = ranker.interaction.weight
    g = [[math.tanh(float(first @ u @ second)) for second in a] for first in q]
    first = pooled(q, [max(row) for row in g])
    second = pooled(a, [max(column) for column in zip(*g, strict=True)])
    return first @ second / (first.norm() * second.norm())


@pytest.mark.parametrize("name", ["ap_cnn", "ap_bilstm"])
def test_scores_match_the_equations(name):
    assert_scores_equal(name, by_hand)
