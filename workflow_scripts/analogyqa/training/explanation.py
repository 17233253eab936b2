"""Explain a ranking: the prototypes most similar to each candidate, and the words that decided."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from analogyqa.encoders import build_encoder
from analogyqa.rankers import Encoded, Ranker, build_ranker
from analogyqa.schemas import Candidate, Explanation, Prototype, Shifts, WordShares
from analogyqa.training.data import CellData, CellJob
from analogyqa.training.scoring import Encode, array_encoder, encode_sides
from analogyqa.vectors import unit

if TYPE_CHECKING:
    from analogyqa.training.learner import Learner

NEAREST = 3  # prototypes of each candidate
TOLERANCE = 1e-5  # of scores from matrix products of different sizes


@dataclass
class Explainer:
    """Explains how one seed of a system ranks the candidates of a question."""

    job: CellJob
    seed: int
    data: CellData  # the question with its candidates, and the prototypes
    prototypes: pd.DataFrame  # a table of schema PROTOTYPES
    word_ids: Mapping[str, int] | None  # the rows of the word vectors, if there are any
    learner: "Learner | None"  # a trained system; None for any other

    def __post_init__(self) -> None:
        system = self.job.system
        self._word_at = {row: word for word, row in (self.word_ids or {}).items()}
        self._encode: Encode
        self._find_winners: Encode | None
        if self.learner:
            encoder, device = self.learner.encoder, self.learner.device
            self._encode = array_encoder(encoder, device)
            winners = getattr(encoder, "winners", None)
            self._find_winners = winners and array_encoder(winners, device)
            self._ranker = self.learner.ranker
        else:
            vectors = self.data.word_vectors
            self._encode = build_encoder(system.encoder_name, vectors, system.training, self.seed)
            self._find_winners = getattr(self._encode, "winners", None)
            self._ranker = build_ranker(system)

    def explain(self, ranked: pd.DataFrame) -> Explanation:
        """Explain the ranking of the candidates of a question.

        Args:
            ranked: The pairs of the question in `data`, the best first, with the column `score`.
        """
        first = ranked.iloc[0]
        part = self.data.splits[first["split"]]
        questions, answers = part.questions[ranked.index], part.candidates[ranked.index]
        columns = ["candidate_id", "candidate", "label", "score"]
        records = ranked[columns].to_dict("records")
        words, *candidate_words = self._winners(np.concatenate([questions[:1], answers]))
        candidates = [
            Candidate(**record, words=shares, matches=self._matches(questions[0], answer))
            for record, shares, answer in zip(records, candidate_words, answers, strict=True)
        ]
        explanation = Explanation(
            run=self.job.cell.path,
            seed=self.seed,
            question_id=first["question_id"],
            question=first["question"],
            words=words,
            candidates=candidates,
        )
        if self.job.system.compares:
            types = self.prototypes["question_type"].astype(str)
            is_used = (types == str(first["question_type"])).to_numpy()
            data = self.data
            compared = data.prototype_questions[is_used], data.prototype_candidates[is_used]
            self._compare(explanation, questions, answers, *compared)
        return explanation

    def _compare(self, explanation: Explanation, *numbers: np.ndarray) -> None:
        """Add the prototypes of the question's type, and how similar each candidate is to each.

        `numbers` are the sentence numbers of both sides of the candidates [M] and prototypes [P].
        """
        q, a, q_p, a_p = encode_sides(self._encode, self.data.sentences, *numbers)
        pairs, prototypes = np.indices((len(q), len(q_p))).reshape(2, -1)
        one_question = np.zeros(len(q), dtype=np.int64)
        encoded = Encoded(one_question, q, a, q_p, a_p, prototypes, pairs)
        similarities = prototype_scores(self._ranker, encoded)
        scores, best = self._ranker.scores(encoded)
        for row, candidate in enumerate(explanation.candidates):
            similarity = similarities[row]
            nearest = np.argsort(-similarity, kind="stable")[:NEAREST].tolist()
            candidate.nearest = [(number, float(similarity[number])) for number in nearest]
            if abs(similarity[best[row]] - scores[row]) < TOLERANCE:
                candidate.decided_by = int(best[row])
        texts = list(self.data.sentences.index)
        compared = numbers[2:]
        explanation.prototypes = [
            Prototype(
                question=texts[question],
                answer=texts[answer],
                question_words=question_words,
                answer_words=answer_words,
            )
            for question, answer, question_words, answer_words in zip(
                *compared, *map(self._winners, compared), strict=True
            )
        ]
        shifts = np.concatenate([q - a, q_p - a_p])
        if getattr(self.job.system.ranker, "compare", "cosine") == "cosine":
            shifts = unit(shifts)  # only their directions are compared
        points, shares = principal_components(shifts)
        of_candidates, of_prototypes = (part.tolist() for part in np.split(points, [len(q)]))
        explanation.shifts = Shifts(
            candidates=of_candidates, prototypes=of_prototypes, shares=shares
        )

    def _winners(self, numbers: np.ndarray) -> list[WordShares]:
        """Return the words of sentences [n] by the share of dimensions that they win."""
        if self._find_winners is None:
            return [[] for _ in numbers]
        ids, lengths = self.data.sentences.batch(numbers)
        positions = self._find_winners(ids, lengths)
        winners = np.take_along_axis(ids, positions, axis=1)
        return [
            [(self._word_at[word], count / len(row)) for word, count in Counter(row).most_common()]
            if length
            else []
            for row, length in zip(winners.tolist(), lengths, strict=True)
        ]

    def _matches(self, question: int, answer: int) -> list[tuple[str, str, float]]:
        """Return the words of a question, each with the most similar word of an answer."""
        words, answer_words = map(self.data.sentences.words, (question, answer))
        if not (self.job.system.ranker_spec.matches_words and len(words) and len(answer_words)):
            return []
        vectors = self.data.word_vectors
        cosines = unit(vectors[words]) @ unit(vectors[answer_words]).T
        matches = answer_words[cosines.argmax(axis=1)]
        return [
            (self._word_at[word], self._word_at[match], float(cosine))
            for word, match, cosine in zip(words, matches, cosines.max(axis=1), strict=True)
        ]


def prototype_scores(ranker: Ranker, encoded: Encoded) -> np.ndarray:
    """Return the score that each of M pairs would have with each of P prototypes alone: [M, P].

    All pairs are compared with all prototypes.
    """
    pairs = encoded.pairs
    alone = np.arange(len(pairs))  # each quadruple is a pair of a question of its own
    separate = encoded._replace(
        question_numbers=alone,
        questions=encoded.questions[pairs],
        candidates=encoded.candidates[pairs],
        pairs=alone,
    )
    scores, _ = ranker.scores(separate)
    return scores.reshape(len(encoded.questions), -1)


def principal_components(vectors: np.ndarray) -> tuple[np.ndarray, tuple[float, float]]:
    """Return vectors [n, dim] on their first two principal components [n, 2].

    Also return the share of the variance on each of the two; 0 if all vectors are equal.
    """
    centred = vectors.astype(np.float64) - vectors.mean(axis=0)
    left, lengths, _ = np.linalg.svd(centred, full_matrices=False)
    variances = lengths**2
    first, second = (variances / max(variances.sum(), np.finfo(float).tiny))[:2].tolist()
    return (left * lengths)[:, :2], (first, second)
