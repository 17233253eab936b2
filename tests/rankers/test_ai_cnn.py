"""AI-CNN, against its equations for one pair, word by word."""

import torch

from analogyqa.rankers.attentive_pooling import AI_WIDTH
from builders.networks import DIM, assert_scores_equal


def maps_of(ranker, words):
    filled = torch.cat([torch.zeros(1, DIM), words, torch.zeros(1, DIM)])
    windows = [filled[start : start + AI_WIDTH].T for start in range(len(words))]
    weight, bias = ranker.convolution.weight, ranker.convolution.bias
    return [((weight * window).sum(dim=(1, 2)) + bias).tanh() for window in windows]


def attended(rows, attention):
    weights = torch.stack([attention(row)[0] for row in rows]).softmax(dim=0)
    return sum(weight * row for weight, row in zip(weights, rows, strict=True))


def by_hand(ranker, question, candidate):
    v = torch.cat([ranker.of_question.weight, ranker.of_candidate.weight], dim=1)
    v, b = torch.cat([v, ranker.of_product.weight], dim=1), ranker.of_question.bias
    tensor = [
        [(v @ torch.cat([q, a, q * a]) + b).tanh() for a in maps_of(ranker, candidate)]
        for q in maps_of(ranker, question)
    ]
    rows = [torch.stack(row).amax(dim=0) for row in tensor]
    columns = [torch.stack(column).amax(dim=0) for column in zip(*tensor, strict=True)]
    first = attended(rows, ranker.question_attention)
    second = attended(columns, ranker.candidate_attention)
    return ranker.output(torch.cat([first, second]))[0]


def test_scores_match_the_equations():
    assert_scores_equal("ai_cnn", by_hand)
