"""Read the words that the corpora use from a file of word vectors."""

import zlib
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from analogyqa.errors import AnalogyQAError
from analogyqa.text import tokenize
from analogyqa.vectors.fasttext_files import OutOfVocabulary, is_fasttext, read_fasttext
from analogyqa.vectors.text_files import stream_vectors


def build_vocabulary(sentences: Iterable[str], lowercase: bool) -> list[str]:
    """Return the distinct tokens of the sentences, sorted."""
    return sorted({token for text in set(sentences) for token in tokenize(text, lowercase)})


def known_vectors(path: str | Path, tokens: Iterable[str]) -> tuple[np.ndarray, dict[str, int]]:
    """Return the vectors of distinct tokens, float32 [V, d], and the rows of those in the file.

    Raises AnalogyQAError as `select_vectors` does.
    """
    vocabulary = sorted(set(tokens))
    vectors, found = select_vectors(path, vocabulary, "zero")
    return vectors, {word: row for row, word in enumerate(vocabulary) if found[row]}


def select_vectors(
    path: str | Path, vocabulary: list[str], out_of_vocabulary: OutOfVocabulary
) -> tuple[np.ndarray, np.ndarray]:
    """Read the vectors of a vocabulary from `.vec` or GloVe text or word2vec binary (`.bin`), also
    in `.gz` or `.zip`, or from a fastText `.bin`.

    The file is streamed: memory grows with the vocabulary, not with the file.

    Args:
        path: the file; a `.bin` is taken as fastText's or word2vec's by its first bytes.
        vocabulary: distinct words.
        out_of_vocabulary: `random` draws from a normal distribution of the found vectors' standard
            deviation, each word from a seed of its own; `zero`; `subword` asks fastText.

    Returns:
        float32 [V, d] in the order of `vocabulary`, and bool [V], whether the word was found.

    Raises:
        AnalogyQAError: for a damaged file, a vector of another length or that is not finite (file
            and line named), or a file that has no word of the vocabulary.
    """
    fasttext = is_fasttext(path)
    if out_of_vocabulary == "subword":
        if not fasttext:
            raise AnalogyQAError(f"{path}: out_of_vocabulary: subword needs a fastText .bin file")
        return read_fasttext(path, vocabulary)
    vectors, found = (read_fasttext if fasttext else _from_words)(path, vocabulary)
    if not found.any():
        raise AnalogyQAError(
            f"{path}: none of the {len(found)} words of the corpora is in this file. "
            "Is it a file of word vectors, and of the right language?"
        )
    vectors[~found] = 0
    if out_of_vocabulary == "random":
        _draw_missing(path, vectors, found, vocabulary)
    return vectors, found


def _from_words(path: str | Path, vocabulary: list[str]) -> tuple[np.ndarray, np.ndarray]:
    rows = {word.encode(): row for row, word in enumerate(vocabulary)}
    vectors, found = np.zeros((len(vocabulary), 0), np.float32), np.zeros(len(vocabulary), bool)
    for word, vector, place in stream_vectors(path, rows):
        if not found.any():
            vectors = np.zeros((len(vocabulary), len(vector)), dtype=np.float32)
        if found[rows[word]]:
            continue
        if not np.isfinite(vector).all():
            raise AnalogyQAError(
                f"{path}, {place}: the vector of {word.decode()!r} has a value that is not finite"
            )
        vectors[rows[word]], found[rows[word]] = vector, True
    return vectors, found


def _draw_missing(
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
