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


def fused(fusion="equal"):
    return build_ranker(
        System(title="F", ranker={"name": "fused", "parts": ["a", "b"], "fusion": fusion})
    )


def examples(noise: tuple[float, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return scores [200, systems] and labels; one of five candidates is correct."""
    generator = np.random.default_rng(0)
    labels = (np.arange(200) % 5 == 2).astype(int)
    scores = [labels + spread * generator.standard_normal(200) for spread in noise]
    return np.stack(scores, axis=1), labels


def mrr(scores: np.ndarray, labels: np.ndarray) -> float:
    right = scores[labels == 1][:, None]
    return float(np.mean(1 / (1 + (scores.reshape(-1, 5) > right).sum(axis=1))))


@given(
    arrays.arrays(float, (12, 2), elements=st.floats(-1e3, 1e3)),
    st.floats(0.1, 100),
    st.floats(-10, 10),
)
def test_standardised_scores_do_not_depend_on_the_unit_of_a_system(scores, factor, shift):
    question_of = np.repeat([0, 1, 2], 4)
    by_question = standardised(scores, question_of).reshape(3, 4, 2)
    assert np.allclose(by_question.mean(axis=1), 0, atol=1e-6)
    spread = by_question.std(axis=1)
    assert np.all(np.isclose(spread, 1) | np.isclose(spread, 0, atol=1e-6))
    varies = scores.reshape(3, 4, 2).std(axis=1) > 1e-3  # else the shift rounds it away
    other = standardised(scores * factor + shift, question_of).reshape(3, 4, 2)
    assert np.allclose(
        *(np.where(varies[:, None], values, 0) for values in (by_question, other)), atol=1e-5
    )


def test_equal_scores_have_no_effect():
    scores = np.array([[0.3, 2.0], [0.3, 1.0], [0.3, 3.0]])
    assert standardised(scores, np.zeros(3, dtype=int))[:, 0].tolist() == [0, 0, 0]
    ranker = fused()
    ranker.fit(PartScores(scores, np.zeros(3, dtype=int), np.array([1, 0, 0])))
    values, _ = ranker.scores(PartScores(scores, np.zeros(3, dtype=int), np.zeros(3)))
    assert values.argsort().tolist() == [1, 0, 2]


def test_reciprocal_ranks_follow_the_formula_and_ties_share_a_rank():
    scores = np.array([[0.9], [0.5], [0.5], [7.0]])
    ranks = reciprocal_ranks(scores, np.array([0, 0, 0, 1]))
    assert ranks[:, 0] == pytest.approx([1 / 61, 1 / 62.5, 1 / 62.5, 1 / 61])


@pytest.mark.parametrize("fusion", ["equal", "reciprocal_rank", *LEARNED])
def test_fusing_systems_with_independent_errors_improves_both(fusion):
    scores, labels = examples((0.8, 0.8))
    ranker = fused(fusion)
    ranker.fit(PartScores(scores, QUESTIONS, labels))
    both = mrr(ranker.scores(PartScores(scores, QUESTIONS, labels))[0], labels)
    assert both > max(mrr(scores[:, part], labels) for part in (0, 1)) + 0.03


@pytest.mark.parametrize("fusion", LEARNED)
def test_a_better_system_gets_a_larger_weight(fusion):
    scores, labels = examples((0.5, 50))
    ranker = fused(fusion)
    ranker.fit(PartScores(scores, QUESTIONS, labels))
    assert ranker.weights[0] > 5 * abs(ranker.weights[1])
    negated = fused(fusion)
    negated.fit(PartScores(scores * [-1, 1], QUESTIONS, labels))
    assert negated.weights == pytest.approx(ranker.weights * [-1, 1], rel=1e-3, abs=1e-3)


def test_the_listwise_weights_are_at_a_minimum():
    scores, labels = examples((0.7, 1.5))
    features = standardised(scores, QUESTIONS)

    def loss(weights):
        values = (features @ weights).reshape(-1, 5)
        shares = np.exp(values) / np.exp(values).sum(axis=1, keepdims=True)
        return weights @ weights / 2 - np.log(shares[:, 2]).sum()

    weights = listwise_weights(features, QUESTIONS, labels)
    for step in ([0.01, 0], [-0.01, 0], [0, 0.01], [0, -0.01]):
        assert loss(weights + step) > loss(weights)


@pytest.mark.parametrize("fusion", LEARNED)
def test_equal_candidates_give_finite_weights(fusion):
    ranker = fused(fusion)
    ranker.fit(PartScores(np.ones((4, 2)), np.array([0, 0, 1, 1]), np.zeros(4, dtype=int)))
    assert np.isfinite(ranker.weights).all()
