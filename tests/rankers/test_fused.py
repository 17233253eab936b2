"""Late fusion: scores made comparable within questions, and weights learned on dev."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from analogyqa.rankers import PartScores, build_ranker
from analogyqa.rankers.fused import listwise_weights, reciprocal_ranks, standardised
from analogyqa.settings.systems import System

LEARNED = ("logistic", "listwise")
QUESTIONS = np.repeat(np.arange(40), 5)


def fused(dev, fusion="equal"):
    options = {"name": "fused", "parts": ["a", "b"], "fusion": fusion}
    ranker = build_ranker(System(title="F", ranker=options))
    ranker.fit(dev)
    return ranker


def examples(*noise: float) -> PartScores:
    """Return the scores [200, systems] of 40 questions; one of five candidates is correct."""
    generator = np.random.default_rng(0)
    labels = (np.arange(200) % 5 == 2).astype(int)
    scores = [labels + spread * generator.standard_normal(200) for spread in noise]
    return PartScores(np.stack(scores, axis=1), QUESTIONS, labels)


def mrr(scores: np.ndarray, labels: np.ndarray) -> float:
    right = scores[labels == 1][:, None]
    return float(np.mean(1 / (1 + (scores.reshape(-1, 5) > right).sum(axis=1))))


@given(
    arrays.arrays(float, (12, 2), elements=st.floats(-1e3, 1e3)),
    st.floats(0.1, 100),
    st.floats(-10, 10),
)
def test_standardised_scores_do_not_depend_on_the_unit_of_a_system(scores, factor, shift):
    question_numbers = np.repeat([0, 1, 2], 4)
    by_question = standardised(scores, question_numbers).reshape(3, 4, 2)
    assert np.allclose(by_question.mean(axis=1), 0, atol=1e-6)
    spread = by_question.std(axis=1)
    assert np.all(np.isclose(spread, 1) | np.isclose(spread, 0, atol=1e-6))
    varies = scores.reshape(3, 4, 2).std(axis=1) > 1e-3  # else the shift rounds it away
    other = standardised(scores * factor + shift, question_numbers).reshape(3, 4, 2)
    assert np.allclose(
        *(np.where(varies[:, None], values, 0) for values in (by_question, other)), atol=1e-5
    )


def test_reciprocal_ranks_follow_the_formula_and_ties_share_a_rank():
    scores = np.array([[0.9], [0.5], [0.5], [7.0]])
    ranks = reciprocal_ranks(scores, np.array([0, 0, 0, 1]))
    assert ranks[:, 0] == pytest.approx([1 / 61, 1 / 62.5, 1 / 62.5, 1 / 61])


@pytest.mark.parametrize("fusion", ["equal", "reciprocal_rank", *LEARNED])
def test_fusing_systems_with_independent_errors_improves_both(fusion):
    pairs = examples(0.8, 0.8)
    both = mrr(fused(pairs, fusion).scores(pairs)[0], pairs.labels)
    assert both > max(mrr(scores, pairs.labels) for scores in pairs.scores.T) + 0.03


@pytest.mark.parametrize("fusion", LEARNED)
def test_a_better_system_gets_a_larger_weight(fusion):
    pairs = examples(0.5, 50)
    weights = fused(pairs, fusion).weights
    assert weights[0] > 5 * abs(weights[1])
    negated = fused(pairs._replace(scores=pairs.scores * [-1, 1]), fusion).weights
    assert negated == pytest.approx(weights * [-1, 1], rel=1e-3, abs=1e-3)


def test_the_listwise_weights_are_at_a_minimum():
    pairs = examples(0.7, 1.5)
    features = standardised(pairs.scores, QUESTIONS)

    def loss(weights):
        values = (features @ weights).reshape(-1, 5)
        shares = np.exp(values) / np.exp(values).sum(axis=1, keepdims=True)
        return weights @ weights / 2 - np.log(shares[:, 2]).sum()

    weights = listwise_weights(features, QUESTIONS, pairs.labels)
    for step in ([0.01, 0], [-0.01, 0], [0, 0.01], [0, -0.01]):
        assert loss(weights + step) > loss(weights)


@given(st.permutations([0.3, 0.8, 2.0, 30.0]))
def test_the_best_part_on_dev_scores_alone_and_the_first_of_equals_is_kept(noise):
    pairs = examples(*noise, *noise)
    values = [mrr(scores, pairs.labels) for scores in pairs.scores.T]
    ranker = fused(pairs, "best_on_dev")
    best = int(np.argmax(values))
    assert ranker.weights.tolist() == [float(part == best) for part in range(8)]
    assert mrr(ranker.scores(pairs)[0], pairs.labels) == pytest.approx(values[best])


@pytest.mark.parametrize("fusion", [*LEARNED, "best_on_dev"])
def test_equal_candidates_give_finite_weights(fusion):
    ranker = fused(PartScores(np.ones((4, 2)), np.arange(4) // 2, np.zeros(4, dtype=int)), fusion)
    assert np.isfinite(ranker.weights).all()
