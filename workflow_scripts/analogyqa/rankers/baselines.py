"""Rankers that learn nothing: matching words, and the order of the data."""

import logging

import bm25s
import numpy as np
import pandas as pd

from analogyqa.errors import AnalogyQAError
from analogyqa.rankers import Texts, Vocabulary, Words, unranked
from analogyqa.text import tokenize
from analogyqa.vectors import unit

logging.getLogger("bm25s").setLevel(logging.WARNING)  # its import sets DEBUG


class BM25Ranker:
    """BM25 (Robertson and Zaragoza 2009): words that both sides share, weighted by rarity."""

    def __init__(self, *unused: object) -> None:
        pass

    def scores(self, texts: Texts) -> tuple[np.ndarray, np.ndarray]:
        """Score pairs: float32 [M], 0 for pairs that share no word.

        The idf is that of Lucene, which is never negative; k1 = 1.5 and b = 0.75 are the defaults
        of bm25s. A word that occurs several times in the question counts each time. The idf and the
        mean length are those of the collection, where duplicates count once.

        Raises AnalogyQAError when a candidate is not in the collection.
        """
        sentences = pd.Index(dict.fromkeys(texts.collection))
        rows = sentences.get_indexer(texts.candidates)
        if len(missing := np.flatnonzero(rows < 0)):
            raise AnalogyQAError(
                f"the candidate {texts.candidates[missing[0]][:60]!r} is not in the collection in "
                "which BM25 counts words. The collection must contain all candidates that are "
                "scored."
            )
        index = bm25s.BM25(k1=1.5, b=0.75, method="lucene")
        tokens = [tokenize(sentence, texts.lowercase) for sentence in sentences]
        index.index(tokens, show_progress=False)
        scores = np.empty(len(rows), dtype=np.float32)
        questions = pd.Series(texts.questions)
        for question, pairs in questions.groupby(list(questions)).indices.items():
            words = index.get_tokens_ids(tokenize(question, texts.lowercase))
            scores[pairs] = index.get_scores_from_ids(words)[rows[pairs]]
        return unranked(scores)


class AlignedRanker:
    """score(q, a) = sum over words w of q of idf(w) * max over words v of a of cos(w, v).

    From the one-to-many alignments of Yadav, Sharp and Surdeanu (2018, "Sanity check: a strong
    alignment and information retrieval baseline for question answering", SIGIR), it takes only the
    best one for each word.
    """

    def __init__(self, *unused: object) -> None:
        pass

    def fit(self, vocabulary: Vocabulary) -> None:
        """Compute log((N - n + 0.5) / (n + 0.5)) for a word in n of N sentences, or 0 if lower."""
        frequencies, sentences = vocabulary.frequencies, vocabulary.sentences
        self.vectors = unit(vocabulary.vectors)
        self.idf = np.log((sentences - frequencies + 0.5) / (frequencies + 0.5)).clip(min=0)

    def scores(self, pairs: Words) -> tuple[np.ndarray, np.ndarray]:
        question_numbers, questions, candidates = pairs
        scores = np.zeros(len(candidates), dtype=np.float32)
        for rows in pd.Series(question_numbers).groupby(question_numbers).indices.values():
            words = questions[rows[0]]
            lengths = np.array([len(candidates[row]) for row in rows])
            if len(words) == 0 or lengths.sum() == 0:
                continue
            candidate_words = np.concatenate([candidates[row] for row in rows])
            cosines = self.vectors[words] @ self.vectors[candidate_words].T
            filled = np.flatnonzero(lengths)
            starts = np.cumsum(lengths)[filled] - lengths[filled]
            best = np.maximum.reduceat(cosines, starts, axis=1)
            scores[rows[filled]] = self.idf[words] @ best
        return unranked(scores)


class GivenOrderRanker:
    """Keeps the order of the data, such as that of a search engine: score = -(the position)."""

    def __init__(self, *unused: object) -> None:
        pass

    def scores(self, texts: Texts) -> tuple[np.ndarray, np.ndarray]:
        return unranked(-np.arange(len(texts.candidates), dtype=np.float32))
