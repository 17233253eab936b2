"""Weights of words by their frequencies."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from analogyqa.errors import AnalogyQAError
from analogyqa.vectors.files import read_packed_lines

A = 1e-3
_MAX_DIGITS = 18  # of a count, which is an int64
# From counts and the number of tokens to weights.
Weight = Callable[[int | np.ndarray, int], float | np.ndarray]


def sif_weight(count: int | np.ndarray, tokens: int) -> float | np.ndarray:
    """Return the smooth inverse frequency A / (A + count / tokens) of Arora et al. (2017)."""
    return A / (A + count / max(tokens, 1))


def log_inverse_weight(count: int | np.ndarray, tokens: int) -> float | np.ndarray:
    """Return log(tokens / count); words without a count have that of a word seen once."""
    return np.log(max(tokens, 1) / np.maximum(count, 1))


WEIGHTS: dict[str, Weight] = {"sif": sif_weight, "log_inverse": log_inverse_weight}


class Frequencies(NamedTuple):
    """How often words occur in a text."""

    counts: np.ndarray  # of each word, int64 [V]
    tokens: int  # of the whole text, also those of words without a count here


def read_frequencies(path: str | Path, word_ids: dict[str, int]) -> Frequencies:
    """Read the frequencies of words from a file with a word and its count on each line.

    Counts of a repeated word are added, and words that are not in the file have no count. The
    tokens are those of all words of the file. A line without a word, such as an empty token, is
    skipped; one without a count raises AnalogyQAError.
    """
    counts, tokens = np.zeros(len(word_ids), dtype=np.int64), 0
    for number, line in enumerate(read_packed_lines(path), start=1):
        *words, count = line.split() or [""]
        if not count.isdecimal() or len(count) > _MAX_DIGITS:
            raise AnalogyQAError(
                f"{path}, line {number}: no word with its count. Correct the line, or fetch the "
                "file again."
            )
        if len(words) != 1:
            continue
        tokens += int(count)
        if words[0] in word_ids:
            counts[word_ids[words[0]]] += int(count)
    return Frequencies(counts, tokens)
