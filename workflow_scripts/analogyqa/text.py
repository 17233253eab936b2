"""From a sentence to tokens to word ids."""

import re
from collections.abc import Callable, Iterable

import numpy as np

from analogyqa.errors import AnalogyQAError

# A regular expression instead of a library: the tokenisers that follow the Penn Treebank take more
# than a second to import, in each of hundreds of jobs.
_TOKEN = re.compile(
    r"""
    ``|''|-[LR][RSC]B-                        # Treebank quotes and brackets, as in TrecQA
    |\w+?(?=n't\b)|n't\b|'(?:s|m|d|re|ve|ll)\b  # did n't, it 's
    |(?:[^\W\d_]\.){2,}                         # u.s.
    |\w+(?:(?:[-.,:&]|'(?!(?:s|m|d|re|ve|ll)\b))\w+)*  # a word or number, with marks inside
    |\.\.\.|--
    |\S
    """,
    re.VERBOSE | re.IGNORECASE,
)

# TrecQA arrives in Penn Treebank tokens, word vectors are trained on plain punctuation.
_PLAIN = {
    "``": '"',
    "''": '"',
    "-LRB-": "(",
    "-RRB-": ")",
    "-LSB-": "[",
    "-RSB-": "]",
    "-LCB-": "{",
    "-RCB-": "}",
}


def tokenize(sentence: str, lowercase: bool = True, shortest: int = 1) -> list[str]:
    """Split a sentence into Penn Treebank tokens with plain quotes and brackets.

    Those of fewer than `shortest` characters are left out.

    A sentence that is tokenised already, as in TrecQA, keeps its tokens but for the dot of an
    abbreviation such as `Mr.`, which becomes a token.
    """
    tokens = [_PLAIN.get(token, token) for token in _TOKEN.findall(sentence)]
    tokens = [token for token in tokens if len(token) >= shortest]
    return [token.lower() for token in tokens] if lowercase else tokens


def whole(sentence: str) -> list[str]:
    """Return a sentence as its only word, as a store of sentence vectors holds it."""
    return [sentence]


class Sentences:
    """Unique sentences as word ids, for batches.

    Args:
        texts: sentences, repeated ones are kept once.
        word_ids: word to row of the word vectors; None gives every word the id 0.
        split: a sentence to its words, such as `tokenize`.

    Raises:
        AnalogyQAError: for a word that `word_ids` lacks.
    """

    def __init__(
        self,
        texts: Iterable[str],
        word_ids: dict[str, int] | None,
        split: Callable[[str], list[str]],
    ) -> None:
        self.index = {text: number for number, text in enumerate(dict.fromkeys(texts))}
        self._ids: list[np.ndarray] = []
        for text in self.index:
            tokens = split(text)
            try:
                ids = [word_ids[token] for token in tokens] if word_ids else [0] * len(tokens)
            except KeyError as error:
                raise AnalogyQAError(
                    f"the word {error} of {text[:60]!r} is not in the word vectors"
                ) from None
            self._ids.append(np.array(ids, dtype=np.int64))
        self.lengths = np.array([len(ids) for ids in self._ids], dtype=np.int64)

    def __len__(self) -> int:
        return len(self._ids)

    def numbers(self, texts: Iterable[str]) -> np.ndarray:
        """Return the number of each text, int64."""
        return np.array([self.index[text] for text in texts], dtype=np.int64)

    def words_of(self, number: int) -> np.ndarray:
        """Return the word ids of a sentence, int64."""
        return self._ids[number]

    def count_words(self, numbers: np.ndarray, words: int) -> np.ndarray:
        """Return how often sentences [n] have each of `words` word ids, int64 [words]."""
        ids = [self._ids[number] for number in numbers]
        return np.bincount(np.concatenate([*ids, np.zeros(0, np.int64)]), minlength=words)

    def batch(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return word ids [n, longest], 0 behind a sentence's end, and lengths [n]."""
        lengths = self.lengths[numbers]
        words = np.zeros((len(numbers), int(lengths.max(initial=1))), dtype=np.int64)
        for row, number in enumerate(numbers):
            words[row, : lengths[row]] = self._ids[number]
        return words, lengths
