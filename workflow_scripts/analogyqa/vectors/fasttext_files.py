"""fastText's binary files, and words that a file lacks."""

import os
import struct
import zlib
from pathlib import Path
from typing import Literal

import numpy as np

from analogyqa.errors import AnalogyQAError

OutOfVocabulary = Literal["random", "zero", "subword"]
_FASTTEXT_MAGIC = 793712314  # the first four bytes of every fastText .bin
_SUPERVISED = 3  # fastText's number of the kind of model that has labels


def is_fasttext(path: str | Path) -> bool:
    if Path(path).suffix != ".bin":
        return False
    with open(path, "rb") as file:
        start = file.read(4)
    return len(start) == 4 and struct.unpack("<i", start)[0] == _FASTTEXT_MAGIC


def from_fasttext(
    path: str | Path, vocabulary: list[str], out_of_vocabulary: OutOfVocabulary
) -> tuple[np.ndarray, np.ndarray]:
    import fasttext

    try:
        require_whole_fasttext(path)
        model = fasttext.load_model(str(path))
    except (ValueError, OverflowError, OSError, MemoryError, struct.error) as error:
        raise AnalogyQAError(
            f"{path}: damaged fastText model ({error}). Delete it and fetch or train it again."
        ) from error
    found = np.array([model.get_word_id(word) >= 0 for word in vocabulary])
    if out_of_vocabulary != "subword":
        require_found(path, found)
    vectors = np.stack([model.get_word_vector(word) for word in vocabulary])
    if out_of_vocabulary == "zero":
        vectors[~found] = 0
    elif out_of_vocabulary == "random":
        draw_missing(path, vectors, found, vocabulary)
    return vectors, found


def require_whole_fasttext(path: str | Path) -> None:
    """Raise an error for a model that is cut off or contradicts itself: fastText crashes on it."""
    with open(path, "rb") as file:

        def read(layout: str) -> tuple:
            return struct.unpack("<" + layout, file.read(struct.calcsize("<" + layout)))

        _, _, dim, *arguments, _ = read("2i12id")  # magic number, version, arguments
        loss, model, buckets, shortest, longest = arguments[5:10]
        entries, words, labels, _, pruned = read("3i2q")
        if (
            min(dim, words, labels + 1, buckets + 1, 1 + shortest) < 1
            or (entries != words + labels)
            or not (shortest <= longest <= 100 and 1 <= loss <= 4 and 1 <= model <= 3)
        ):
            raise ValueError("its arguments contradict each other")
        for _ in range(entries):
            while file.read(1) not in (b"\0", b""):
                pass
            count, kind = read("qb")
            if not 0 < count < 10**15 or kind not in (0, 1):
                raise ValueError(f"a word of kind {kind} that comes {count} times")
        file.seek(8 * max(pruned, 0), os.SEEK_CUR)
        subwords = pruned if pruned >= 0 else buckets
        for expected in (words + subwords, labels if model == _SUPERVISED else words):
            if read("?")[0]:
                raise ValueError("it is quantised: name the .bin as it was trained")
            rows, columns = read("2q")
            if (rows, columns) != (expected, dim):
                raise ValueError(f"a matrix of {rows} x {columns} in place of {expected} x {dim}")
            file.seek(4 * rows * columns, os.SEEK_CUR)
        missing = file.tell() - Path(path).stat().st_size
    if missing > 0:
        raise ValueError(f"{missing} bytes are missing at its end")


def require_found(path: str | Path, found: np.ndarray) -> None:
    if not found.any():
        raise AnalogyQAError(
            f"{path}: none of the {len(found)} words of the corpora is in this file. "
            "Is it a file of word vectors, and of the right language?"
        )


def draw_missing(
    path: str | Path, vectors: np.ndarray, found: np.ndarray, vocabulary: list[str]
) -> None:
    # A seed of its own for each word: on the other words only the scale depends.
    with np.errstate(over="ignore", invalid="ignore"):
        scale = float(vectors[found].std())
    if not np.isfinite(scale):
        raise AnalogyQAError(
            f"{path}: damaged: its numbers are too large to have a standard deviation. Delete it "
            "and fetch it again."
        )
    for row in np.flatnonzero(~found):
        generator = np.random.default_rng(zlib.crc32(vocabulary[row].encode()))
        vectors[row] = generator.normal(0, scale, vectors.shape[1])
