"""Sent2Vec files, written byte by byte."""

import struct

import numpy as np

MAGIC, SENT2VEC = 793712314, 4


def model_bytes(
    words: list[str],
    matrix: np.ndarray,
    dim: int,
    buckets: int,
    order: int = 2,
    magic: int = MAGIC,
    version: int = 11,
    kind: int = SENT2VEC,
    pruned: int = -1,
    quantised: bool = False,
    label: str | None = None,
    word_count: int | None = None,
    height: int | None = None,
) -> bytes:
    """Return a model as the original program writes it.

    Args:
        words: The words of its dictionary.
        matrix: The vectors of words and buckets, float32 [words + buckets, dim].
        dim, buckets, order, magic, version, kind, pruned: The values in the header.
        quantised: Whether the header says that the matrix is quantised.
        label: A label in the dictionary, after the words.
        word_count: The number of words in the header, by default the true one.
        height: The number of rows stated before the matrix, by default the true one.
    """
    arguments = (dim, 5, 1, 1, 10, order, 2, kind, buckets, 0, 0, 100, 1e-4)
    entries = [(word, 0) for word in words] + ([(label, 1)] if label else [])
    word_count = len(words) if word_count is None else word_count
    counts = (len(entries), word_count, len(entries) - len(words), 99, pruned)
    height = len(matrix) if height is None else height
    output = np.ones((len(words), dim), dtype=np.float32)
    return b"".join(
        [
            struct.pack("<2i12id3i2q", magic, version, *arguments, *counts),
            *(word.encode() + struct.pack("<xqb", 9, type_) for word, type_ in entries),
            struct.pack("<?2q", quantised, height, matrix.shape[1]) + matrix.tobytes(),
            struct.pack("<?2q", False, *output.shape) + output.tobytes(),
        ]
    )
