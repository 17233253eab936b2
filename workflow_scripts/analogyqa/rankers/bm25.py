"""Rank candidates by BM25: the words they share with the question, weighted by their rarity."""

import logging

import bm25s
import numpy as np
import pandas as pd

from analogyqa.errors import AnalogyQAError
from analogyqa.rankers import Texts, unranked
from analogyqa.text import tokenize

logging.getLogger("bm25s").setLevel(logging.WARNING)  # its import sets DEBUG


class BM25Ranker:
    """BM25 (Robertson and Zaragoza 2009) over the words of question and candidate."""

    def __init__(self, *unused: object) -> None:
        pass

    def scores(self, texts: Texts) -> tuple[np.ndarray, np.ndarray]:
        """Score pairs: float32 [M], 0 for pairs that share no word; there is no best prototype.

        The idf is that of Lucene, which is never negative; k1 = 1.5 and b = 0.75 are the defaults
        of bm25s. A word that occurs several times in the question counts each time. The idf and the
        mean length are those of the collection, where duplicates count once.

        Raises:
            AnalogyQAError: If a candidate is not in the collection.
        """
        sentences = list(dict.fromkeys(texts.collection))
        numbers = {sentence: number for number, sentence in enumerate(sentences)}
        try:
            rows = np.array([numbers[candidate] for candidate in texts.candidates], dtype=np.int64)
        except KeyError as error:
            raise AnalogyQAError(
                f"the candidate {error.args[0][:60]!r} is not in the collection in which BM25 "
                "counts words. The collection must contain all candidates that are scored."
            ) from None
        index = bm25s.BM25(k1=1.5, b=0.75, method="lucene")
        tokens = [tokenize(sentence, texts.lowercase) for sentence in sentences]
        index.index(tokens, show_progress=False)
        scores = np.empty(len(rows), dtype=np.float32)
        questions = pd.Series(texts.questions)
        for question, pairs in questions.groupby(list(questions)).indices.items():
            words = index.get_tokens_ids(tokenize(question, texts.lowercase))
            scores[pairs] = index.get_scores_from_ids(words)[rows[pairs]]
        return unranked(scores)
