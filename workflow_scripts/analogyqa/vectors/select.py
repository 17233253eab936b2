"""Read the vectors of a vocabulary from a file of word vectors."""

import zlib
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from analogyqa.errors import AnalogyQAError
from analogyqa.text import tokenize
from analogyqa.vectors.fasttext_files import OutOfVocabulary, is_fasttext, read_fasttext
from analogyqa.vectors.text_files import stream_vectors


def build_vocabulary(sentences: Iterable[str], lowercase: bool) -> list[str]:
    """Return the sorted unique tokens of sentences."""
    return sorted({token for text in set(sentences) for token in tokenize(text, lowercase)})


def known_vectors(path: str | Path, tokens: Iterable[str]) -> tuple[np.ndarray, dict[str, int]]:
    """Return the vectors of tokens (float32 [V, d]) and the row of each token in the file.

    Raises AnalogyQAError as `select_vectors`.
    """
    vocabulary = sorted(set(tokens))
    vectors, is_found = select_vectors(path, vocabulary, "zero")
    return vectors, {word: row for row, word in enumerate(vocabulary) if is_found[row]}


def select_vectors(
    path: str | Path, vocabulary: list[str], out_of_vocabulary: OutOfVocabulary
) -> tuple[np.ndarray, np.ndarray]:
    """Read the vectors of a vocabulary from a file of any common format.

    The formats are `.vec` and GloVe text and word2vec binary (`.bin`), also as `.gz` or `.zip`, and
    fastText `.bin`. The file is streamed, so memory grows with the vocabulary and not the file.

    Args:
        path: The file. The first bytes of a `.bin` tell fastText from word2vec.
        vocabulary: Unique words.
        out_of_vocabulary: Vectors of missing words. `random` draws from a normal distribution with
            the standard deviation of the found vectors, seeded by the word; `zero` gives zeros;
            `subword` uses fastText's character n-grams.

    Returns:
        The vectors, float32 [V, d], and whether each word was found, bool [V].

    Raises AnalogyQAError for a damaged file, a vector that is not finite or has the wrong length,
    or a file without any word of the vocabulary.
    """
    fasttext = is_fasttext(path)
    if out_of_vocabulary == "subword":
        if not fasttext:
            raise AnalogyQAError(f"{path}: out_of_vocabulary: subword needs a fastText .bin file.")
        return read_fasttext(path, vocabulary)
    vectors, is_found = (read_fasttext if fasttext else _read_words)(path, vocabulary)
    if not is_found.any():
        raise AnalogyQAError(
            f"{path}: none of the {len(is_found)} words of the corpora is in this file. "
            "Does it hold word vectors of the right language?"
        )
    vectors[~is_found] = 0
    if out_of_vocabulary == "random":
        _draw_missing(path, vectors, is_found, vocabulary)
    return vectors, is_found


def _read_words(path: str | Path, vocabulary: list[str]) -> tuple[np.ndarray, np.ndarray]:
    rows = {word.encode(): row for row, word in enumerate(vocabulary)}
    vectors, is_found = np.zeros((len(vocabulary), 0), np.float32), np.zeros(len(vocabulary), bool)
    for word, vector, location in stream_vectors(path, rows):
        if not is_found.any():
            vectors = np.zeros((len(vocabulary), len(vector)), dtype=np.float32)
        if is_found[rows[word]]:
            continue
        if not np.isfinite(vector).all():
            raise AnalogyQAError(
                f"{path}, {location}: the vector of {word.decode()!r} has a value that is not "
                "finite. Delete the file and fetch it again."
            )
        vectors[rows[word]], is_found[rows[word]] = vector, True
    return vectors, is_found


def _draw_missing(
    path: str | Path, vectors: np.ndarray, is_found: np.ndarray, vocabulary: list[str]
) -> None:
    # One seed for each word, so that a vector depends on other words only through the scale.
    with np.errstate(over="ignore", invalid="ignore"):
        scale = float(vectors[is_found].std())
    if not np.isfinite(scale):
        raise AnalogyQAError(
            f"{path}: damaged, with values too large for a standard deviation. Delete the file and "
            "fetch it again."
        )
    for row in np.flatnonzero(~is_found):
        generator = np.random.default_rng(zlib.crc32(vocabulary[row].encode()))
        vectors[row] = generator.normal(0, scale, vectors.shape[1])
