"""The centroid of a type is the mean of the shifts of its prototypes."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from analogyqa.rankers import Encoded, Quadruples, build_ranker
from analogyqa.settings.systems import System
from analogyqa.vectors import unit


def compare(name, prototypes, pairs, is_compared):
    """Return the scores, best prototypes and energies of a ranker, all by pair.

    Prototypes [2, P, d] and pairs [2, M, d] are the vectors of both sides; `is_compared` [M, P]
    says which prototypes a pair has.
    """
    ranker = build_ranker(System(title="R", ranker=name, encoder="random"))
    rows, columns = np.nonzero(is_compared)
    one_question = np.zeros(len(is_compared), dtype=int)
    scores, best = ranker.scores(Encoded(one_question, *pairs, *prototypes, columns, rows))
    vectors = torch.from_numpy(np.concatenate([*prototypes, *pairs])).requires_grad_()
    order = np.random.default_rng(0).permutation(len(rows))
    a, c = torch.from_numpy(columns[order]), torch.from_numpy(rows[order]) + 2 * len(prototypes[0])
    b, d = a + len(prototypes[0]), c + len(pairs[0])
    (energies,) = ranker.energies(Quadruples(vectors, a, b, c, d))
    energies.sum().backward()
    assert vectors.grad.isfinite().all()
    by_pair = np.full(is_compared.shape, np.nan)
    by_pair[rows[order], columns[order]] = energies.detach().numpy()
    return scores, best, by_pair


@st.composite
def comparisons(draw, prototypes_of_a_pair=None):
    generator = np.random.default_rng(draw(st.integers(0, 1000)))
    count, pairs, dim = (draw(st.integers(1, 5)) for _ in range(3))
    sizes = (
        generator.integers(1, count + 1, size=pairs) if not prototypes_of_a_pair else [1] * pairs
    )
    is_compared = np.array([generator.permutation(count) < size for size in sizes])
    return (
        generator.normal(size=(2, count, dim)),
        generator.normal(size=(2, pairs, dim)),
        is_compared,
    )


@given(comparisons())
def test_scores_and_energies_equal_a_plain_loop(drawn):
    (q_p, a_p), (q, a), is_compared = drawn
    scores, best, energies = compare("centroid", *drawn)
    for pair, members in enumerate(is_compared):
        shifts = unit(np.array([(q_p - a_p)[members].mean(axis=0), (q - a)[pair]]))
        expected = pytest.approx(shifts[0] @ shifts[1], abs=1e-6)
        assert scores[pair] == expected
        assert [*energies[pair][members]] == [expected] * members.sum()
        nearness = np.where(members, unit(q_p - a_p) @ shifts[0], -2)
        assert nearness[best[pair]] == pytest.approx(nearness.max())


@given(comparisons(prototypes_of_a_pair=1))
def test_with_one_prototype_it_is_analogy(drawn):
    for centroid, analogy in zip(
        compare("centroid", *drawn), compare("analogy", *drawn), strict=True
    ):
        np.testing.assert_allclose(centroid, analogy, atol=1e-6)


@given(comparisons(), st.randoms(use_true_random=False))
def test_the_order_of_prototypes_does_not_matter(drawn, random):
    prototypes, pairs, is_compared = drawn
    order = random.sample(range(is_compared.shape[1]), is_compared.shape[1])
    scores, _, energies = compare("centroid", *drawn)
    again, _, reordered = compare("centroid", prototypes[:, order], pairs, is_compared[:, order])
    np.testing.assert_allclose(again, scores, atol=1e-6)
    np.testing.assert_allclose(reordered, energies[:, order], atol=1e-6)
