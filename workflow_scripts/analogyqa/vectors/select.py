"""Read the words that the corpora use from a file of word vectors."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from analogyqa.errors import AnalogyQAError
from analogyqa.text import tokenize
from analogyqa.vectors.fasttext_files import (
    OutOfVocabulary,
    draw_missing,
    from_fasttext,
    is_fasttext,
    require_found,
)
from analogyqa.vectors.text_files import stream_vectors


def vocabulary_of(sentences: Iterable[str], lowercase: bool) -> list[str]:
    """Return the distinct tokens of the sentences, sorted."""
    return sorted({token for text in set(sentences) for token in tokenize(text, lowercase)})


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
    if is_fasttext(path):
        return from_fasttext(path, vocabulary, out_of_vocabulary)
    if out_of_vocabulary == "subword":
        raise AnalogyQAError(f"{path}: out_of_vocabulary: subword needs a fastText .bin file")
    rows = {word.encode(): row for row, word in enumerate(vocabulary)}
    vectors, found = None, np.zeros(len(vocabulary), dtype=bool)
    for word, vector, place in stream_vectors(path, rows):
        row = rows[word]
        if vectors is None:
            vectors = np.zeros((len(vocabulary), len(vector)), dtype=np.float32)
        if found[row]:
            continue
        if not np.isfinite(vector).all():
            raise AnalogyQAError(
                f"{path}, {place}: the vector of {word.decode()!r} has a value that is not finite"
            )
        vectors[row], found[row] = vector, True
    require_found(path, found)
    if out_of_vocabulary == "random":
        draw_missing(path, vectors, found, vocabulary)
    return vectors, found
