"""Sent2Vec: a sentence is the mean over its words and word n-grams.

Pagliardini, Gupta and Jaggi, Unsupervised Learning of Sentence Embeddings using Compositional
n-Gram Features, NAACL 2018 (eq. 2). The format is that of the authors' fork of fastText.
"""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from analogyqa.errors import AnalogyQAError
from analogyqa.pretrained import Resources
from analogyqa.text import tokenize
from analogyqa.vectors.fasttext_files import DAMAGE, MAGIC, WORD, open_mapped
from analogyqa.vectors.select import known_vectors

_VERSION, _SENT2VEC = 11, 4  # of the format, and the number of the kind of model
_HASH_FACTOR = 116049371
_UINT64 = (1 << 64) - 1


class NgramVectors(NamedTuple):
    """The vectors of words and of hashed word n-grams.

    Args:
        matrix: float32 [words + buckets, d], the n-grams behind the words.
        rows: word to row.
        words, buckets: as in `matrix`.
        order: words in the longest n-gram.
    """

    matrix: np.ndarray
    rows: Mapping[str, int]
    words: int
    buckets: int
    order: int

    def mean(self, tokens: Sequence[str]) -> np.ndarray:
        """Return the mean over a sentence's words and n-grams, zero where it has none: [d].

        Words without a vector are passed over, so that n-grams reach across them. The sum is
        formed in single precision and from left to right, as the original does it.
        """
        words = [self.rows[token] for token in tokens if token in self.rows]
        features = words.copy()
        for start, code in enumerate(words):
            for following in words[start + 1 : start + self.order]:
                code = (code * _HASH_FACTOR + following) & _UINT64
                features.append(self.words + code % self.buckets)
        if not features:
            return np.zeros(self.matrix.shape[1], dtype=np.float32)
        return self.matrix[features].sum(axis=0) * np.float32(1 / len(features))


def encode(texts: Sequence[str], resources: Resources) -> np.ndarray:
    """Encode n sentences: float32 [n, d].

    `resources.weights` is a model of the original program (`.bin`), or a file of word vectors that
    it wrote (`.vec`, also in `.gz` or `.zip`), by which a sentence is the mean of its words.

    Raises AnalogyQAError as `read_model` and `analogyqa.vectors.select.select_vectors` do.
    """
    return encode_tokens([tokenize(text, resources.lowercase) for text in texts], resources.weights)


def encode_tokens(sentences: Sequence[Sequence[str]], weights: str | Path) -> np.ndarray:
    """Encode n tokenised sentences: float32 [n, d]. See `encode`."""
    vocabulary = {token for tokens in sentences for token in tokens}
    if ".vec" in Path(weights).suffixes:
        matrix, rows = known_vectors(weights, vocabulary)
        vectors = NgramVectors(matrix, rows, len(matrix), buckets=0, order=1)
    else:
        vectors = read_model(weights, vocabulary)
    return np.stack([vectors.mean(tokens) for tokens in sentences])


def read_model(path: str | Path, vocabulary: Collection[str]) -> NgramVectors:
    """Read what a vocabulary needs of a Sent2Vec `.bin`; the matrix stays on the disk.

    Raises AnalogyQAError for a file of another format, a quantised, a damaged or a cut off one.
    """
    wanted = {word.encode(): word for word in vocabulary}
    try:
        with open_mapped(path) as reader:
            header = reader.header
            if (header.magic, header.version, header.model) != (MAGIC, _VERSION, _SENT2VEC):
                fork = "a fastText model of another kind"
                raise AnalogyQAError(
                    f"{path}: {fork if header.magic == MAGIC else 'another format'}, not a model "
                    "of Sent2Vec. Name a .bin that Sent2Vec wrote, or a .vec file of word vectors."
                )
            rows = {
                wanted[word]: row
                for row, (word, _, kind) in enumerate(reader.entries())
                if word in wanted and kind == WORD
            }
            (start, *shape), _ = reader.matrices()
        dim, order, words, buckets = header.dim, header.order, header.words, header.buckets
        if max(rows.values(), default=-1) >= words:
            raise ValueError(f"a word behind the {words} words that it says it has")
        fits = dim >= 1 and shape[1] == dim and shape[0] >= words + buckets
        if not fits or min(words, buckets) < 0 or (order != 1 and buckets < 1):
            raise ValueError(
                f"a matrix of {shape[0]} x {shape[1]} for {words} words, {buckets} buckets and "
                f"{dim} dimensions"
            )
        matrix = np.memmap(path, "<f4", "r", start, tuple(shape))
    except DAMAGE as error:
        raise AnalogyQAError(
            f"{path}: damaged or cut off Sent2Vec model ({error}). Delete it and fetch it again."
        ) from error
    return NgramVectors(matrix, rows, words, buckets, order)
