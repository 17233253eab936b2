"""Sent2Vec: encode a sentence as the mean of its words and word n-grams.

Pagliardini, Gupta and Jaggi, Unsupervised Learning of Sentence Embeddings using Compositional
n-Gram Features, NAACL 2018 (eq. 2). The format is that of the authors' fork of fastText.
"""

from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np

from analogyqa.errors import AnalogyQAError, explain_damage
from analogyqa.pretrained import Resources
from analogyqa.text import tokenize
from analogyqa.vectors.fasttext_files import MAGIC, WORD, open_mapped
from analogyqa.vectors.files import known_vectors

_VERSION, _SENT2VEC = 11, 4  # format version and model type
_HASH_FACTOR = 116049371
_UINT64 = (1 << 64) - 1


def encode(texts: Sequence[str], resources: Resources) -> np.ndarray:
    """Encode n sentences: float32 [n, d].

    `resources.weights` is a model of the original program (`.bin`), or a file of its word vectors
    (`.vec`, also as `.gz` or `.zip`), with which a sentence is the mean of its words.

    Raises AnalogyQAError as `select_vectors`, and for another format, a quantised model or a
    damaged file.
    """
    return encode_tokens([tokenize(text, resources.lowercase) for text in texts], resources.weights)


def encode_tokens(sentences: Sequence[Sequence[str]], weights: str | Path) -> np.ndarray:
    """Encode n tokenised sentences as the mean of their words and n-grams: float32 [n, d].

    Words without a vector are skipped, so n-grams reach across them. Like the original, the sum is
    in single precision and from left to right.
    """
    vocabulary = {token for tokens in sentences for token in tokens}
    words, buckets, order = 0, 0, 1
    if ".vec" in Path(weights).suffixes:
        matrix, rows = known_vectors(weights, vocabulary)
    else:
        matrix, rows, words, buckets, order = _read_model(weights, vocabulary)
    vectors = np.zeros((len(sentences), matrix.shape[1]), dtype=np.float32)
    for vector, tokens in zip(vectors, sentences, strict=True):
        known = [rows[token] for token in tokens if token in rows]
        features = known.copy()
        for start, code in enumerate(known):
            for following in known[start + 1 : start + order]:
                code = (code * _HASH_FACTOR + following) & _UINT64
                features.append(words + code % buckets)
        if features:
            vector[:] = matrix[features].sum(axis=0) * np.float32(1 / len(features))
    return vectors


def _read_model(
    path: str | Path, vocabulary: Collection[str]
) -> tuple[np.ndarray, dict[str, int], int, int, int]:
    """Read the entries of a vocabulary from a Sent2Vec `.bin`.

    Returns the memory-mapped vectors of words and of the hash buckets of n-grams, float32
    [words + buckets, d], the row of each word, and the numbers of words, of buckets, and of words
    in the longest n-gram.
    """
    encoded = {word.encode(): word for word in vocabulary}
    remedy = "Delete it and fetch it again."
    with explain_damage(path, "damaged or truncated Sent2Vec model", remedy):
        with open_mapped(path) as reader:
            header = reader.header
            if (header.magic, header.version, header.model) != (MAGIC, _VERSION, _SENT2VEC):
                is_fasttext = header.magic == MAGIC
                found = "a fastText model of another type" if is_fasttext else "another format"
                raise AnalogyQAError(
                    f"{path}: {found}, not a model of Sent2Vec. Use a .bin that Sent2Vec wrote, or "
                    "a .vec file of word vectors."
                )
            rows = {
                encoded[word]: row
                for row, (word, _, entry_type) in enumerate(reader.entries())
                if word in encoded and entry_type == WORD
            }
            (start, *shape), _ = reader.matrices()
        dim, order, words, buckets = header.dim, header.order, header.words, header.buckets
        if max(rows.values(), default=-1) >= words:
            raise ValueError(f"a word after the {words} words in its header")
        fits = dim >= 1 and shape[1] == dim and shape[0] >= words + buckets
        if not fits or min(words, buckets) < 0 or (order != 1 and buckets < 1):
            raise ValueError(
                f"a matrix of {shape[0]} x {shape[1]} for {words} words, {buckets} buckets and "
                f"{dim} dimensions"
            )
        matrix = np.memmap(path, "<f4", "r", start, tuple(shape))
    return matrix, rows, words, buckets, order
