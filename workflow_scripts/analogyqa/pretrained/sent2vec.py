"""Sent2Vec: a sentence is the mean over its words and word n-grams.

Pagliardini, Gupta and Jaggi, Unsupervised Learning of Sentence Embeddings using Compositional
n-Gram Features, NAACL 2018 (eq. 2). The format is that of the authors' fork of fastText.
"""

import mmap
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from analogyqa.errors import AnalogyQAError
from analogyqa.pretrained import Resources
from analogyqa.text import tokenize
from analogyqa.vectors.select import select_vectors

# magic, version; dim, ws, epoch, minCount, neg, wordNgrams, loss, model, bucket, minn, maxn,
# lrUpdateRate, t; entries, words, labels, tokens, length of the pruning index
_HEADER = struct.Struct("<2i12id3i2q")
_MAGIC, _VERSION = 793712314, 11
_SENT2VEC, _NOT_PRUNED = 4, -1
_WORD_END = struct.Struct("<qb")  # behind a word and its zero byte: count, type
_WORD = 0  # the other type is a label
_MATRIX = struct.Struct("<?2q")  # quantised, rows, columns; then the float32 values

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
        features = words + self._ngrams(words)
        if not features:
            return np.zeros(self.matrix.shape[1], dtype=np.float32)
        return self.matrix[features].sum(axis=0) * np.float32(1 / len(features))

    def _ngrams(self, words: Sequence[int]) -> list[int]:
        found = []
        for start, word in enumerate(words):
            code = word
            for following in words[start + 1 : start + self.order]:
                code = (code * _HASH_FACTOR + following) & _UINT64
                found.append(self.words + code % self.buckets)
        return found


def encode(texts: Sequence[str], resources: Resources) -> np.ndarray:
    """Encode n sentences: float32 [n, d].

    `resources.weights` is a model of the original program (`.bin`), or a file of word vectors that
    it wrote (`.vec`, also in `.gz` or `.zip`), by which a sentence is the mean of its words.

    Raises AnalogyQAError as `read_model` and `analogyqa.vectors.select_vectors` do.
    """
    return encode_tokens([tokenize(text, resources.lowercase) for text in texts], resources.weights)


def encode_tokens(sentences: Sequence[Sequence[str]], weights: str | Path) -> np.ndarray:
    """Encode n tokenised sentences: float32 [n, d]. See `encode`."""
    vocabulary = sorted({token for tokens in sentences for token in tokens})
    read = _read_word_vectors if ".vec" in Path(weights).suffixes else read_model
    vectors = read(weights, vocabulary)
    return np.stack([vectors.mean(tokens) for tokens in sentences])


def _read_word_vectors(path: str | Path, vocabulary: list[str]) -> NgramVectors:
    matrix, found = select_vectors(path, vocabulary, "zero")
    rows = {word: row for row, word in enumerate(vocabulary) if found[row]}
    return NgramVectors(matrix, rows, len(vocabulary), buckets=0, order=1)


def read_model(path: str | Path, vocabulary: Sequence[str]) -> NgramVectors:
    """Read what a vocabulary needs of a Sent2Vec `.bin`; the matrix stays on the disk.

    Raises AnalogyQAError for a file of another format, a quantised, a damaged or a cut off one.
    """
    wanted = {word.encode(): word for word in vocabulary}
    try:
        with (
            open(path, "rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
        ):
            return _parse(path, data, wanted)
    except (struct.error, ValueError, OverflowError) as error:
        raise AnalogyQAError(
            f"{path}: damaged or cut off Sent2Vec model ({error}). Delete it and fetch it again."
        ) from error


def _parse(path: str | Path, data: mmap.mmap, wanted: Mapping[bytes, str]) -> NgramVectors:
    magic, version, dim, *arguments, entries, words, _, _, pruned = _HEADER.unpack_from(data)
    order, model, buckets = arguments[4], arguments[6], arguments[7]
    if (magic, version, model) != (_MAGIC, _VERSION, _SENT2VEC):
        kind = "a fastText model of another kind" if magic == _MAGIC else "another format"
        raise AnalogyQAError(
            f"{path}: {kind}, not a model of Sent2Vec. Name a .bin that Sent2Vec wrote, or a .vec "
            "file of word vectors."
        )
    rows, place = _read_rows(data, _HEADER.size, entries, wanted)
    quantised, height, width = _MATRIX.unpack_from(data, place)
    if quantised or pruned != _NOT_PRUNED:
        raise AnalogyQAError(
            f"{path}: a quantised Sent2Vec model. Name the .bin as it was trained."
        )
    if max(rows.values(), default=-1) >= words:
        raise ValueError(f"a word behind the {words} words that it says it has")
    fits = dim >= 1 and width == dim and height >= words + buckets
    if not fits or min(words, buckets) < 0 or (order != 1 and buckets < 1):
        raise ValueError(
            f"a matrix of {height} x {width} for {words} words, {buckets} buckets and {dim} "
            "dimensions"
        )
    start = place + _MATRIX.size
    output = start + 4 * height * width  # the other matrix of the training, which nobody needs here
    _, *shape = _MATRIX.unpack_from(data, output)
    missing = output + _MATRIX.size + 4 * shape[0] * shape[1] - len(data)
    if missing > 0:
        raise ValueError(f"{missing:,} bytes are missing at its end")
    matrix = np.memmap(path, "<f4", "r", start, (height, width))
    return NgramVectors(matrix, rows, words, buckets, order)


def _read_rows(
    data: mmap.mmap, place: int, entries: int, wanted: Mapping[bytes, str]
) -> tuple[dict[str, int], int]:
    """Return the rows of the wanted words, and the place behind the dictionary."""
    rows = {}
    for row in range(entries):
        end = data.find(b"\0", place)
        if end < 0:
            raise ValueError(f"it ends at word {row + 1} of {entries}")
        word = data[place:end]
        if word in wanted and _WORD_END.unpack_from(data, end + 1)[1] == _WORD:
            rows[wanted[word]] = row
        place = end + 1 + _WORD_END.size
    return rows, place
