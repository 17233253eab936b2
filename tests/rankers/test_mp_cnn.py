"""MP-CNN, against its blocks and comparisons for one pair, filter by filter."""

import torch

from analogyqa.rankers.mp_cnn import WIDTHS
from builders.networks import DIM, assert_scores_equal, build, scores, sentences

POOLS = [lambda rows: rows.amax(0), lambda rows: rows.amin(0), lambda rows: rows.mean(0)]


def windows_of(words, width):
    """Return the windows of a sentence, each [d, width]; one that is too short has one."""
    filled = torch.cat([words, torch.zeros(max(width - len(words), 0), DIM)])
    return [filled[start : start + width].T for start in range(len(filled) - width + 1)]


def block_a(ranker, words):
    """Return for each pooling the vectors of the three widths and of the whole sentence."""
    block = []
    for pool, convolutions in zip(POOLS, ranker.holistic, strict=True):
        vectors = []
        for width, layers in zip(WIDTHS, convolutions, strict=True):
            convolution, values = layers, []
            for window in windows_of(words, width):
                if width > 1:
                    inner, _, convolution = layers
                    window = (inner.weight[:, :, 0] @ window + inner.bias[:, None]).tanh()
                total = (convolution.weight * window).sum(dim=(1, 2)) + convolution.bias
                values.append(total.tanh())
            vectors.append(pool(torch.stack(values)))
        block.append([*vectors, pool(words)])
    return block


def block_b(ranker, words):
    """Return the vectors of the filters that see one dimension."""
    vectors = []
    for pool, convolutions in zip(POOLS[:2], ranker.per_dimension, strict=True):
        for width, convolution in zip(WIDTHS, convolutions, strict=True):
            for weight, bias in zip(convolution.weight[:, 0, 0], convolution.bias, strict=True):
                values = [(window @ weight + bias).tanh() for window in windows_of(words, width)]
                vectors.append(pool(torch.stack(values)))
    return vectors


def cosine(first, second):
    return torch.nn.functional.cosine_similarity(first, second, dim=0)


def by_hand(ranker, question, candidate):
    """Return the score of one pair."""
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
    assert_scores_equal("mp_cnn", by_hand, rtol=1e-4, atol=1e-5)


def test_gradients_match_the_algorithms():
    """Even through positions that are found without gradients."""
    ranker, vectors = build("mp_cnn"), sentences()
    weights = list(ranker.parameters())
    gradients = torch.autograd.grad(scores(ranker, vectors, [0], [1]).sum(), weights)
    expected = torch.autograd.grad(by_hand(ranker, vectors[0, :3], vectors[1]), weights)
    torch.testing.assert_close(gradients, expected, rtol=1e-4, atol=1e-5)
