"""Networks of words against the equations of their papers, for one pair, word by word."""

import math

import pytest
import torch

from analogyqa.rankers.networks import WIDTH, WIDTHS, WINDOWS, word_mask
from builders.networks import DIM, assert_scores_equal, build, convolve, scores, sentences


def test_a_sentence_ends_with_its_last_nonzero_row():
    vectors = torch.zeros(4, 4, 2)
    vectors[0, :2], vectors[1, 2, 1], vectors[2, 3] = 1, -1, torch.nan
    expected = [[1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1], [1, 0, 0, 0]]
    assert word_mask(vectors).tolist() == [[bool(value) for value in row] for row in expected]


def attentive_maps(ranker, words):
    if hasattr(ranker, "lstm"):
        return list(ranker.lstm(words)[0])
    weight = ranker.convolution.weight.view(-1, WIDTH, DIM).transpose(1, 2)
    return list(convolve(words, weight, ranker.convolution.bias, 2, 2))


def pooled(maps, importance):
    weights = [math.exp(value) for value in importance]
    return sum(weight / sum(weights) * vector for weight, vector in zip(weights, maps, strict=True))


def attentive_score(ranker, question, candidate):
    q, a = attentive_maps(ranker, question), attentive_maps(ranker, candidate)
    u = ranker.interaction.weight
    g = [[math.tanh(float(first @ u @ second)) for second in a] for first in q]
    first = pooled(q, [max(row) for row in g])
    second = pooled(a, [max(column) for column in zip(*g, strict=True)])
    return first @ second / (first.norm() * second.norm())


@pytest.mark.parametrize("name", ["ap_cnn", "ap_bilstm"])
def test_scores_match_the_equations(name):
    assert_scores_equal(name, attentive_score)


def interactive_maps(ranker, words):
    return list(convolve(words, *ranker.convolution.parameters(), 1, 1).tanh())


def attended(rows, attention):
    weights = torch.stack([attention(row)[0] for row in rows]).softmax(dim=0)
    return sum(weight * row for weight, row in zip(weights, rows, strict=True))


def interactive_score(ranker, question, candidate):
    v = torch.cat([ranker.of_question.weight, ranker.of_candidate.weight], dim=1)
    v, b = torch.cat([v, ranker.of_product.weight], dim=1), ranker.of_question.bias
    tensor = [
        [(v @ torch.cat([q, a, q * a]) + b).tanh() for a in interactive_maps(ranker, candidate)]
        for q in interactive_maps(ranker, question)
    ]
    rows = [torch.stack(row).amax(dim=0) for row in tensor]
    columns = [torch.stack(column).amax(dim=0) for column in zip(*tensor, strict=True)]
    first = attended(rows, ranker.question_attention)
    second = attended(columns, ranker.candidate_attention)
    return ranker.output(torch.cat([first, second]))[0]


def test_ai_cnn_matches_its_equations():
    assert_scores_equal("ai_cnn", interactive_score)


def compare_aggregate_score(ranker, question, candidate):
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
        values = convolve(torch.stack(compared), *convolution.parameters(), after=width - 1)
        maxima.append(values.relu().amax(dim=0))
    return ranker.output(ranker.layer(torch.cat(maxima)).tanh())[0]


def test_compare_aggregate_matches_its_equations():
    assert_scores_equal("compare_aggregate", compare_aggregate_score)


POOLS = [lambda rows: rows.amax(0), lambda rows: rows.amin(0), lambda rows: rows.mean(0)]


def filled(words, width):
    return torch.nn.functional.pad(words, (0, 0, 0, max(width - len(words), 0)))


def block_a(ranker, words):
    """Return for each pooling the vectors of the three widths and of the whole sentence."""
    block = []
    for pool, convolutions in zip(POOLS, ranker.holistic, strict=True):
        vectors = []
        for width, layers in zip(WINDOWS, convolutions, strict=True):
            rows, convolution = filled(words, width), layers
            if width > 1:
                inner, _, convolution = layers
                rows = convolve(rows, *inner.parameters()).tanh()
            vectors.append(pool(convolve(rows, *convolution.parameters()).tanh()))
        block.append([*vectors, pool(words)])
    return block


def block_b(ranker, words):
    """Return the vectors of the filters that see one dimension."""
    vectors = []
    for pool, convolutions in zip(POOLS[:2], ranker.per_dimension, strict=True):
        for width, convolution in zip(WINDOWS, convolutions, strict=True):
            windows = filled(words, width).unfold(0, width, 1)
            for weight, bias in zip(convolution.weight[:, 0, 0], convolution.bias, strict=True):
                vectors.append(pool((windows @ weight + bias).tanh()))
    return vectors


def cosine(first, second):
    return torch.nn.functional.cosine_similarity(first, second, dim=0)


def mp_cnn_score(ranker, question, candidate):
    first, second = block_a(ranker, question), block_a(ranker, candidate)
    cosines, distances, comparisons = [], [], []
    for xs, ys in zip(first, second, strict=True):  # algorithm 1
        for x, y in zip(torch.stack(xs).T, torch.stack(ys).T, strict=True):
            cosines.append(cosine(x, y))
            distances.append((x - y).norm())
    pairs = [
        [(x, y) for xs, ys in zip(first, second, strict=True) for x in xs for y in ys],
        list(zip(block_b(ranker, question), block_b(ranker, candidate), strict=True)),
    ]
    for compared in pairs:  # algorithm 2
        comparisons += [torch.stack([cosine(x, y) for x, y in compared])]
        comparisons += [torch.stack([(x - y).norm() for x, y in compared])]
        comparisons += [torch.cat([(x - y).abs() for x, y in compared])]
    features = torch.cat([torch.stack(cosines), torch.stack(distances), *comparisons])
    return ranker.output(ranker.hidden(features).tanh())[0]


def test_scores_match_the_algorithms():
    assert_scores_equal("mp_cnn", mp_cnn_score, rtol=1e-4, atol=1e-5)


def test_gradients_match_the_algorithms():
    """Even through positions that are found without gradients."""
    ranker, vectors = build("mp_cnn"), sentences()
    weights = list(ranker.parameters())
    gradients = torch.autograd.grad(scores(ranker, vectors, [0], [1]).sum(), weights)
    expected = torch.autograd.grad(mp_cnn_score(ranker, vectors[0, :3], vectors[1]), weights)
    torch.testing.assert_close(gradients, expected, rtol=1e-4, atol=1e-5)
