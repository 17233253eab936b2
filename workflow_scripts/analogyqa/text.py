"""From a sentence to tokens to word ids."""

import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import cache

import numpy as np

from analogyqa.errors import AnalogyQAError

_JOINERS = "\u200c\u200d"  # of zero width


def _token_pattern(marks: str = "") -> re.Pattern[str]:
    """Return the pattern of a token whose letters may have marks, given as the inside of a class.

    A regular expression instead of a library: the tokenisers that follow the Penn Treebank take
    more than a second to import, in each of hundreds of jobs.
    """
    mark = f"[{marks}]*" if marks else ""
    # The joiners of Persian and Indic words stand between letters.
    letters = rf"(?:\w{mark}|(?<=[\w{marks}])[{_JOINERS}](?=\w))+" if marks else r"\w+"
    return re.compile(
        rf"""
        ``|''|-[LR][RSC]B-                        # Treebank quotes and brackets, as in TrecQA
        |\w+?(?=n't\b)|n't\b|'(?:s|m|d|re|ve|ll)\b  # did n't, it 's
        |(?:[^\W\d_]{mark}\.){{2,}}                # u.s.
        |{letters}(?:(?:[-.,:&]|'(?!(?:s|m|d|re|ve|ll)\b)){letters})*  # with punctuation inside
        |\.\.\.|--
        |\S{mark}
        """,
        re.VERBOSE | re.IGNORECASE,
    )


_TOKEN = _token_pattern()


@cache
def _token_with_marks() -> re.Pattern[str]:
    """Return the pattern for sentences with combining marks, which `\\w` lacks.

    It takes three times as long, and few sentences need it.
    """
    return _token_pattern("".join(filter(_is_mark, map(chr, range(0x300, 0x20000)))))


def _is_mark(character: str) -> bool:
    return unicodedata.category(character)[0] == "M"


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


def nfc(text: str) -> str:
    """Return a text in Unicode's composed form: é as one character, not as e and an accent."""
    return unicodedata.normalize("NFC", text)


def require_text(text: str) -> None:
    """Raise ValueError for characters that no text has, which JSON can escape.

    These are NUL, and half of a surrogate pair, such as half an emoji.
    """
    text.encode()
    if "\0" in text:
        raise ValueError("a NUL character")


def tokenize(sentence: str, lowercase: bool = True, shortest: int = 1) -> list[str]:
    """Split a sentence into Penn Treebank tokens with plain quotes and brackets.

    They are in the composed form of Unicode (NFC). Combining marks belong to their word. Those of
    fewer than `shortest` characters are left out.

    A sentence that is tokenised already, as in TrecQA, keeps its tokens but for the dot of an
    abbreviation such as `Mr.`, which becomes a token.
    """
    sentence = nfc(sentence)
    marked = not sentence.isascii() and any(_is_mark(c) or c in _JOINERS for c in sentence)
    pattern = _token_with_marks() if marked else _TOKEN
    tokens = [_PLAIN.get(token, token) for token in pattern.findall(sentence)]
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

    def words(self, number: int) -> np.ndarray:
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
