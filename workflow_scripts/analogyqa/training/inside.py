"""Look into a trained encoder: the vectors of sentences and words, and their norms."""

from pathlib import Path

import numpy as np
import pandas as pd

from analogyqa.schemas import INSIDE
from analogyqa.settings.systems import System
from analogyqa.training.data import CellData, split_evenly
from analogyqa.training.learner import trained_learner
from analogyqa.training.scoring import array_encoder, encode_all

SPLIT = "test"
WORD_BATCH = 1024


def look_inside(
    data: CellData, system: System, seed: int, checkpoint: Path, vocabulary: dict[str, int]
) -> pd.DataFrame:
    """Return the questions, candidates and words of the test split as a table of schema INSIDE.

    Vectors are not projected onto the unit ball, as a ranker may do (footnote 2 of HyperQA). The
    norm of a word is that of a sentence with only this word. `vocabulary` is the row of each word
    in the word vectors.

    Raises AnalogyQAError when the checkpoint is damaged.
    """
    learner = trained_learner(data, system, seed, checkpoint)
    encode, part = array_encoder(learner.encoder, learner.device), data.splits[SPLIT]
    is_first = ~part.pairs["question_id"].duplicated().to_numpy()
    first = part.pairs[is_first]
    numbers = np.concatenate([part.questions[is_first], part.candidates])
    word_at = {row: word for word, row in vocabulary.items()}
    ids, lengths = data.sentences.batch(numbers)
    sentence_rows = [row[:length] for row, length in zip(ids, lengths, strict=True)]
    vectors = encode_all(encode, data.sentences, numbers)
    sentences = pd.DataFrame(
        {
            "kind": ["question"] * len(first) + ["candidate"] * len(part.pairs),
            "id": [*first["question_id"], *part.pairs["candidate_id"]],
            "question_id": [*first["question_id"], *part.pairs["question_id"]],
            "label": [-1] * len(first) + part.pairs["label"].tolist(),
            "text": [*first["question"], *part.pairs["candidate"]],
            "words": [[word_at[row] for row in rows] for rows in sentence_rows],
            "norm": vector_norms(vectors),
            "vector": list(vectors),
        }
    )
    used = np.unique(np.concatenate(sentence_rows))
    names = [word_at[row] for row in used]
    parts = split_evenly(used, WORD_BATCH)
    word_vectors = [encode(part[:, None], np.ones_like(part)) for part in parts]
    words = pd.DataFrame(
        {
            "kind": "word",
            "id": names,
            "question_id": "",
            "label": -1,
            "text": names,
            "words": [[name] for name in names],
            "norm": vector_norms(np.concatenate(word_vectors)),
            "vector": [[] for _ in names],
        }
    )
    return pd.concat([sentences, words], ignore_index=True)[INSIDE.names]


def vector_norms(vectors: np.ndarray) -> np.ndarray:
    """Return the Euclidean norms of vectors [n, dim]: float64 [n]."""
    return np.linalg.norm(vectors.astype(np.float64), axis=1)
