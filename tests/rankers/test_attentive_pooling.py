"""AP-CNN and AP-BiLSTM, against the equations of the paper for one pair, word by word."""

import math

import pytest
import torch

from analogyqa.rankers.attentive_pooling import WIDTH
from small_networks import DIM, assert_scores_equal, build, count_parameters, scores, sentences

both = pytest.mark.parametrize("name", ["ap_cnn", "ap_bilstm"])


def maps_of(ranker, words):
    """Return the maps of one sentence, a list of vectors."""
    if hasattr(ranker, "lstm"):
        return list(ranker.lstm(words)[0])
    weight, bias = ranker.convolution.weight, ranker.convolution.bias
    maps = []
    for place in range(len(words)):
        total = bias.clone()
        for offset in range(WIDTH):  # two words before, two behind
            if 0 <= (seen := place + offset - 2) < len(words):
                total = total + weight[:, :, offset] @ words[seen]
        maps.append(total)
    return maps


def pooled(maps, importance):
    weights = [math.exp(each) for each in importance]
    return sum(weight / sum(weights) * one for weight, one in zip(weights, maps, strict=True))


def by_hand(ranker, question, candidate):
    q, a = maps_of(ranker, question), maps_of(ranker, candidate)
    u = ranker.interaction.weight
    g = [[math.tanh(float(first @ u @ second)) for second in a] for first in q]
    first = pooled(q, [max(row) for row in g])
    second = pooled(a, [max(column) for column in zip(*g, strict=True)])
    return first @ second / (first.norm() * second.norm())


@both
def test_a_score_is_that_of_the_equations(name):
    assert_scores_equal(name, by_hand)


@both
def test_a_score_is_a_cosine(name):
    found = scores(build(name), sentences())
    assert found.abs().max() <= 1 + 1e-6
    assert found[2].item() == pytest.approx(1)  # the sentence of one word and itself


@pytest.mark.parametrize(("dim", "h"), [(DIM, 6), (3, 2), (300, 300), (300, 600)])
def test_the_parameters_are_those_of_the_formulas(dim, h):
    cnn, bilstm = (count_parameters(name, dim, h) for name in ("ap_cnn", "ap_bilstm"))
    assert cnn == h * (WIDTH * dim + 1) + h**2
    assert bilstm == 4 * h * (dim + h // 2 + 2) + h**2
    if dim == 300:
        assert cnn == {300: 540_300, 600: 1_260_600}[h]
        assert bilstm == {300: 632_400, 600: 1_804_800}[h]


def test_a_zero_vector_has_no_direction():
    """All maps of an empty sentence are zero without a bias: the score is 0, its gradient finite"""
    ranker = build("ap_cnn")
    with torch.no_grad():
        ranker.convolution.bias.zero_()
    found = scores(ranker, sentences(), [0], [3])
    found.sum().backward()
    assert found.item() == 0
    assert all(each.grad is None or each.grad.isfinite().all() for each in ranker.parameters())
