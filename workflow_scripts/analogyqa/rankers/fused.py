"""Rank candidates by the scores of several systems (late fusion).

The scores are made comparable within each question, then weighted. Weights may be learned on dev,
or one system is chosen there.
Reciprocal ranks are those of Cormack, Clarke and Büttcher (2009, "Reciprocal rank fusion
outperforms Condorcet and individual rank learning methods", SIGIR), with their constant.
"""

import numpy as np
import pandas as pd

from analogyqa.rankers import PartScores, unranked
from analogyqa.rankers.specs import FusedOptions

RANK_CONSTANT = 60


def standardised(scores: np.ndarray, question_numbers: np.ndarray) -> np.ndarray:
    """Return scores [n, k] with mean 0 and standard deviation 1 in each question and column.

    `question_numbers` [n] has the number of each question. Scores that are all equal become 0.
    """
    by_question = pd.DataFrame(scores.astype(np.float64)).groupby(question_numbers)
    centred = scores - by_question.transform("mean").to_numpy()
    spread = by_question.transform("std", ddof=0).to_numpy()
    # A smaller spread of equal scores is a rounding error.
    differs = spread > 1e-12 * np.abs(scores).max(initial=1)
    return np.divide(centred, spread, out=np.zeros_like(centred), where=differs)


def reciprocal_ranks(scores: np.ndarray, question_numbers: np.ndarray) -> np.ndarray:
    """Return 1 / (60 + rank) of scores [n, k] in each question and column; ties share a rank."""
    ranks = pd.DataFrame(scores).groupby(question_numbers).rank(ascending=False, method="average")
    return 1 / (RANK_CONSTANT + ranks.to_numpy())


def logistic_weights(
    features: np.ndarray, question_numbers: np.ndarray, labels: np.ndarray
) -> np.ndarray:
    """Return the weights [k] of a logistic regression of labels on the features [n, k] of pairs."""
    from sklearn.linear_model import LogisticRegression

    if len(np.unique(labels)) < 2:  # nothing to learn
        return np.ones(features.shape[1])
    return LogisticRegression().fit(features, labels).coef_[0]


def listwise_weights(
    features: np.ndarray, question_numbers: np.ndarray, labels: np.ndarray
) -> np.ndarray:
    """Return the weights [k] that minimise the cross-entropy of a softmax over the candidates.

    The correct candidates of a question share its target probability equally (the top-one case of
    Cao et al. 2007, "Learning to rank: from pairwise approach to listwise approach", ICML). The
    loss includes half the squared length of the weights, as in `logistic_weights`.
    """
    from scipy.optimize import minimize

    labels = labels.astype(np.float64)
    counts = np.bincount(question_numbers, labels)
    answered = counts[question_numbers] > 0
    targets = np.divide(labels, counts[question_numbers], out=np.zeros_like(labels), where=answered)

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        values = features @ weights
        largest = pd.Series(values).groupby(question_numbers).transform("max").to_numpy()
        powers = np.exp(values - largest)
        sums = np.bincount(question_numbers, powers)[question_numbers]
        log_shares = values - largest - np.log(sums)
        shares = powers / sums * answered
        gradient = features.T @ (shares - targets) + weights
        return weights @ weights / 2 - targets @ log_shares, gradient

    return minimize(loss, np.zeros(features.shape[1]), jac=True).x


def best_on_dev(
    features: np.ndarray, question_numbers: np.ndarray, labels: np.ndarray
) -> np.ndarray:
    """Return weights [k] of 1 for the first column of features [n, k] with the best MRR, else 0.

    Tied candidates share a rank.
    """
    ranks = pd.DataFrame(features).groupby(question_numbers).rank(ascending=False)
    correct = labels == 1
    first = ranks[correct].groupby(question_numbers[correct]).min()
    means = (1 / first).mean().to_numpy()
    return (np.arange(len(means)) == means.argmax()).astype(float)


_LEARNED = {
    "logistic": logistic_weights,
    "listwise": listwise_weights,
    "best_on_dev": best_on_dev,
}


class FusedRanker:
    """score(q, a) = sum over parts of weight * comparable score, as defined by `fusion`."""

    def __init__(self, options: FusedOptions, *unused: object) -> None:
        self.fusion = options.fusion

    def fit(self, dev: PartScores) -> None:
        """Learn the `weights` [k] on dev if `fusion` does; otherwise make them equal."""
        scores, question_numbers, labels = dev
        self.weights = np.full(scores.shape[1], 1 / scores.shape[1])
        if self.fusion in _LEARNED:
            features = standardised(scores, question_numbers)
            self.weights = _LEARNED[self.fusion](features, question_numbers, labels)

    def scores(self, pairs: PartScores) -> tuple[np.ndarray, np.ndarray]:
        scale = reciprocal_ranks if self.fusion == "reciprocal_rank" else standardised
        return unranked(scale(pairs.scores, pairs.question_numbers) @ self.weights)
