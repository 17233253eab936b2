"""Encode sentences and score the candidates of a split."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from analogyqa.encoders import Encoder, build_encoder
from analogyqa.rankers import Encoded, Fitting, Ranker, Vocabulary, Words, build_ranker
from analogyqa.schemas import SCORES
from analogyqa.settings.systems import System
from analogyqa.text import Sentences, tokenize
from analogyqa.training.data import CellData, split_evenly
from analogyqa.vectors.frequencies import WEIGHTS, Frequencies

if TYPE_CHECKING:
    import torch

EVALUATED = ("dev", "test")
ENCODE_BATCH = 256

# From word ids [n, t] and lengths [n] to sentence vectors, float32 [n, dim].
Encode = Callable[[np.ndarray, np.ndarray], np.ndarray]


def array_encoder(encoder: Encoder, device: "torch.device") -> Encode:
    """Return an encoder of PyTorch as a function of arrays that computes no gradients."""
    import torch  # not at the top: most jobs that score need no PyTorch

    @torch.no_grad()
    def encode(words: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        vectors = encoder(torch.from_numpy(words).to(device), torch.from_numpy(lengths))
        return vectors.cpu().numpy()

    return encode


def encode_all(encode: Encode, sentences: Sentences, numbers: np.ndarray) -> np.ndarray:
    """Encode sentences, given by their numbers [n], once each: float32 [n, dim]."""
    unique, inverse = np.unique(numbers, return_inverse=True)
    order = np.argsort(sentences.lengths[unique], kind="stable")
    batches = split_evenly(order, ENCODE_BATCH)
    vectors = np.concatenate([encode(*sentences.batch(unique[part])) for part in batches])
    return vectors[np.argsort(order, kind="stable")][inverse]


def encode_sides(encode: Encode, sentences: Sentences, *sides: np.ndarray) -> list[np.ndarray]:
    """Encode several arrays of sentence numbers [n] at once: float32 [n, dim] for each."""
    vectors = encode_all(encode, sentences, np.concatenate(sides))
    return np.split(vectors, np.cumsum([len(side) for side in sides])[:-1])


def score_split(
    encode: Encode, data: CellData, split: str, ranker: Ranker
) -> tuple[np.ndarray, np.ndarray]:
    """Score all pairs of a split: float32 [M], and the rank of each best prototype (-1: none)."""
    part = data.splits[split]
    # Without quadruples, the ranker compares with no prototype.
    used = slice(None if len(part.rows) else 0)
    prototypes = data.prototype_questions[used], data.prototype_candidates[used]
    pairs = part.questions, part.candidates
    q, a, q_p, a_p = encode_sides(encode, data.sentences, *pairs, *prototypes)
    encoded = Encoded(part.question_numbers, q, a, q_p, a_p, part.prototypes, part.rows)
    scores, best = ranker.scores(encoded)
    ranks = np.append(data.prototype_ranks, -1).astype(np.int64)  # row -1 has rank -1: none
    return scores, ranks[best]


def scores_table(
    data: CellData, split: str, seed: int, scores: np.ndarray, best_prototype: np.ndarray
) -> pd.DataFrame:
    """Return the scored candidates of a split as a table of schema SCORES."""
    pairs = data.splits[split].pairs[["split", "question_id", "candidate_id", "label"]]
    frame = pairs.assign(seed=seed, score=scores, best_prototype=best_prototype)
    return frame[SCORES.names]


def score_untrained(
    data: CellData, system: System, seed: int, splits: Iterable[str] = EVALUATED
) -> pd.DataFrame:
    """Score splits with an encoder that is not trained; return a table of schema SCORES.

    A stored sentence vector counts as the only word of its sentence, and the encoder is the mean.
    """
    ranker = build_ranker(system)
    if system.ranker_spec.reads == "words":
        ranker.fit(_vocabulary(data))
        scores = {split: ranker.scores(_words(data, split)) for split in splits}
    else:
        word_vectors = data.word_vectors
        if system.weighting != "uniform":
            # Without given frequencies, words are counted in the training sentences.
            frequencies = data.frequencies or _training_frequencies(data)
            weights = np.asarray(WEIGHTS[system.weighting](*frequencies), dtype=np.float32)
            word_vectors = word_vectors * weights[:, None]
        encoder = build_encoder(system.encoder_name, word_vectors, system.training, seed)
        if system.ranker_spec.fitted:
            ranker.fit(_fitting(encoder, data))
        scores = {split: score_split(encoder, data, split, ranker) for split in splits}
    tables = [scores_table(data, split, seed, *scores[split]) for split in scores]
    return pd.concat(tables, ignore_index=True)


def _vocabulary(data: CellData) -> Vocabulary:
    """Return the word vectors, and how many of all candidates have each word."""
    candidates = np.unique(data.all_pairs.candidates)
    distinct = [np.unique(data.sentences.words(number)) for number in candidates]
    vectors = data.word_vectors
    frequencies = np.bincount(np.concatenate(distinct), minlength=len(vectors))
    return Vocabulary(vectors, frequencies, len(candidates))


def _words(data: CellData, split: str) -> Words:
    part, words = data.splits[split], data.sentences.words
    sides = ([*map(words, numbers)] for numbers in (part.questions, part.candidates))
    return Words(part.question_numbers, *sides)


def _training_frequencies(data: CellData) -> Frequencies:
    pairs = data.all_pairs
    is_train = (pairs.pairs["split"] == "train").to_numpy()
    sentences = np.union1d(pairs.questions[is_train], pairs.candidates[is_train])
    counts = data.sentences.count_words(sentences, len(data.word_vectors))
    texts = list(data.sentences.index)
    # Short words, which the system may skip, are tokens, too.
    tokens = sum(len(tokenize(texts[number])) for number in sentences)
    return Frequencies(counts, tokens)


def _fitting(encode: Encode, data: CellData) -> Fitting:
    pairs = data.all_pairs
    unique, rows = np.unique([pairs.questions, pairs.candidates], return_inverse=True)
    questions, candidates = rows.reshape(2, -1)
    sentences = encode_all(encode, data.sentences, unique)
    splits = pairs.pairs["split"].to_numpy(dtype=str)
    return Fitting(sentences, questions, candidates, pairs.labels, splits)
