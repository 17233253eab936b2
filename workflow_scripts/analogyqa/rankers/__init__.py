"""The rankers: classes with the methods of `Ranker`."""

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

if TYPE_CHECKING:
    from torch import Tensor

    from analogyqa.settings.systems import System


class Encoded(NamedTuple):
    """The vectors of a split: those of its M pairs and of the P prototypes, float32 [.., dim].

    `question_numbers` [M], here and below, are those of the pairs. `prototypes` and `pairs` [n] are
    the quadruples, as rows of the prototypes and of the pairs; those of a pair are consecutive. For
    a ranker without prototypes the last four are empty.
    """

    question_numbers: np.ndarray
    questions: np.ndarray
    candidates: np.ndarray
    prototype_questions: np.ndarray
    prototype_candidates: np.ndarray
    prototypes: np.ndarray
    pairs: np.ndarray


class Fitting(NamedTuple):
    """What a ranker of vectors is fitted to: S sentences, each once, and N pairs of a data set."""

    sentences: np.ndarray  # vectors, float32 [S, dim]
    questions: np.ndarray  # the rows of the sentences of each pair, [N]
    candidates: np.ndarray
    labels: np.ndarray  # 0 or 1, [N]
    splits: np.ndarray  # names, [N]

    def sentence_rows(self, splits: Sequence[str], by_side: bool) -> list[np.ndarray]:
        """Return the rows of the sentences of splits, each once, in increasing order.

        With `by_side`, these are the rows of the questions and those of the candidates.
        """
        is_in = np.isin(self.splits, splits)
        sides = self.questions[is_in], self.candidates[is_in]
        return [*map(np.unique, sides)] if by_side else [np.union1d(*sides)]

    def correct_pairs(self, splits: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows of the questions and of the candidates of the correct pairs of splits."""
        rows = np.isin(self.splits, splits) & (self.labels == 1)
        return self.questions[rows], self.candidates[rows]

    def thread_pairs(self, splits: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows of both sides of the pairs of similar sentences in a thread.

        They are a question with its first correct candidate, and all couples of its correct ones.
        """
        questions, candidates = self.correct_pairs(splits)
        pairs: list[tuple[int, int]] = []
        for question in dict.fromkeys(questions.tolist()):
            correct = candidates[questions == question].tolist()
            pairs += [(question, correct[0]), *combinations(correct, 2)]
        first, second = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        return first, second


class Quadruples(NamedTuple):
    """Training quadruples a : b :: c : d, rows [n] of `vectors` [u, dim].

    Without prototypes a and b are empty. For a ranker that reads words, `vectors` are [u, t, dim],
    and zero after the end of a sentence.
    """

    vectors: "Tensor"
    a: "Tensor"
    b: "Tensor"
    c: "Tensor"
    d: "Tensor"


class Words(NamedTuple):
    """A split for a ranker of words: the word ids of both sentences of its M pairs."""

    question_numbers: np.ndarray
    questions: Sequence[np.ndarray]
    candidates: Sequence[np.ndarray]


class Vocabulary(NamedTuple):
    """What a ranker of words is fitted to."""

    vectors: np.ndarray  # of all words, float32 [V, d]
    frequencies: np.ndarray  # the number of candidates with each word, [V]
    sentences: int  # the number of different candidates


class Texts(NamedTuple):
    """The texts of M pairs, and a collection of sentences in which words may be counted."""

    questions: Sequence[str]
    candidates: Sequence[str]
    collection: Sequence[str]
    lowercase: bool


class PartScores(NamedTuple):
    """The scores [M, k] of M pairs by k systems, and their labels [M], which are 0 or 1."""

    scores: np.ndarray
    question_numbers: np.ndarray
    labels: np.ndarray


class Ranker(Protocol):
    """Ranks candidates. Its specification says what it reads, and which of these methods it has."""

    def fit(self, data: Any) -> None:
        """Learn in closed form, without the labels of test; a `fitted` ranker has this."""
        ...

    def scores(self, split: Any) -> tuple[np.ndarray, np.ndarray]:
        """Score all pairs: float32 [M], and int [M] the row of the best prototype, -1 for none.

        A `trained` ranker has energies only.
        """
        ...

    def energies(self, quadruples: Quadruples, both_sides: bool = False) -> list["Tensor"]:
        """Return the scores that training raises for correct and lowers for wrong pairs: [n].

        With `both_sides` a ranker whose quadruples make a parallelogram has a second tensor, and
        any ranker may have further ones; `sides` of its specification says how many.
        """
        ...

    def distances(self, quadruples: Quadruples) -> list["Tensor"]:
        """Return the Euclidean distances [n] of each side; one that `has_distances` has this."""
        ...


def unranked(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return scores [M] of a ranker without prototypes, as `Ranker.scores` returns them."""
    return scores.astype(np.float32), np.full(len(scores), -1)


def build_ranker(system: "System", dim: int = 0, seed: int = 0) -> Ranker:
    """Return a new ranker of a system; a trained one reads vectors of dimension `dim`."""
    return system.ranker_spec.load()(system.ranker, system.training, dim, seed)
