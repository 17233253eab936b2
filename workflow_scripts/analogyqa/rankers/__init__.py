"""The rankers: a file each, with a class that has the methods of `Ranker`, `TextRanker` or, where
it learns, `TrainedRanker`."""

from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    from analogyqa.settings.systems import System


class Encoded(NamedTuple):
    """The vectors of a split: those of its M pairs, and of the P prototypes, float32 [.., dim].

    `question_of` [M] numbers the question of each pair. `prototypes` and `pairs` [n] are the
    quadruples, rows of the prototypes and of the pairs; those of a pair stand together. For a
    ranker without prototypes the last four are empty.
    """

    question_of: np.ndarray
    questions: np.ndarray
    candidates: np.ndarray
    prototype_questions: np.ndarray
    prototype_candidates: np.ndarray
    prototypes: np.ndarray
    pairs: np.ndarray


class Fitting(NamedTuple):
    """What a ranker is fitted to: S sentences, each once, and N pairs of a data set.

    `sentences` are vectors, float32 [S, dim]. Of the pairs, all [N]: `questions` and `candidates`
    are rows of the sentences, `labels` 0 or 1, `splits` names.
    """

    sentences: np.ndarray
    questions: np.ndarray
    candidates: np.ndarray
    labels: np.ndarray
    splits: np.ndarray

    def sentences_of(self, splits: "Sequence[str]") -> np.ndarray:
        """Return the rows of the sentences of splits, each once, in increasing order."""
        own = np.isin(self.splits, splits)
        return np.union1d(self.questions[own], self.candidates[own])

    def correct_pairs(self, splits: "Sequence[str]") -> tuple[np.ndarray, np.ndarray]:
        """Return the rows of the questions and of the candidates of the correct pairs of splits."""
        own = np.isin(self.splits, splits) & (self.labels == 1)
        return self.questions[own], self.candidates[own]


class Quadruples(NamedTuple):
    """Training quadruples a : b :: c : d, rows [n] of `vectors` [u, dim].

    For a ranker without prototypes a and b are empty. For one that reads words `vectors` are
    [u, t, dim], zero behind a sentence's end.
    """

    vectors: "Tensor"
    a: "Tensor"
    b: "Tensor"
    c: "Tensor"
    d: "Tensor"


class Ranker(Protocol):
    """Ranks candidates by vectors."""

    def scores(self, encoded: Encoded) -> tuple[np.ndarray, np.ndarray]:
        """Score all pairs: float32 [M], and int [M] the row of the best prototype, -1 for none."""
        ...

    def energies(self, quadruples: Quadruples, both_sides: bool = False) -> list["Tensor"]:
        """Return what training makes large for right and small for wrong pairs: [n], one each side.

        With `both_sides` a ranker whose quadruples make a parallelogram has a second one, and any
        ranker may have further ones; `sides` of its specification says how many.
        """
        ...


class FittedRanker(Ranker, Protocol):
    """A ranker that is fitted in closed form to a data set before it scores."""

    def fit(self, fitting: Fitting) -> None:
        """Learn from the sentences and the pairs of a data set; test labels are not looked at."""
        ...


class TrainedRanker(Protocol):
    """Ranks candidates by vectors and learns with the encoder: a `torch.nn.Module`."""

    def energies(self, quadruples: Quadruples, both_sides: bool = False) -> list["Tensor"]:
        """Return the scores of the pairs c, d: one side, [n]."""
        ...


class TextRanker(Protocol):
    """Ranks candidates by their words."""

    def scores(
        self,
        questions: "Sequence[str]",
        candidates: "Sequence[str]",
        collection: "Sequence[str]",
        lowercase: bool,
    ) -> np.ndarray:
        """Score m pairs, float32 [m]; words are counted in the sentences of `collection`."""
        ...


def build_ranker(
    system: "System", dim: int = 0, seed: int = 0
) -> Ranker | TextRanker | TrainedRanker:
    """Return a new ranker of a system, for vectors of dimension `dim` where it is trained."""
    return system.ranker_spec.load()(system.ranker, system.training, dim, seed)
