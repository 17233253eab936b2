"""Split sentences into tokens, and map tokens to word ids."""

import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import cache

import numpy as np

from analogyqa.errors import AnalogyQAError

_JOINERS = "\u200c\u200d"  # zero-width joiners


def _token_pattern(marks: str = "") -> re.Pattern[str]:
    """Return the pattern of a token, whose letters may carry combining `marks`.

    We use a regular expression because libraries with Penn Treebank tokenisers take more than a
    second to import, in each of hundreds of jobs.
    """
    mark = f"[{marks}]*" if marks else ""
    # Persian and Indic words have joiners between letters.
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
    """Return the pattern for sentences with combining marks, which `\\w` does not match.

    It is three times slower, and few sentences need it.
    """
    return _token_pattern("".join(filter(_is_mark, map(chr, range(0x300, 0x20000)))))


def _is_mark(character: str) -> bool:
    return unicodedata.category(character)[0] == "M"


# TrecQA has Penn Treebank tokens, but word vectors are trained on plain punctuation.
_PLAIN = {"``": '"', "''": '"', "-LRB-": "(", "-RRB-": ")"}
_PLAIN |= {"-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}


def nfc(text: str) -> str:
    """Return a text in Unicode's composed form, with é as one character."""
    return unicodedata.normalize("NFC", text)


def require_text(text: str) -> None:
    """Raise ValueError for invalid characters that JSON can encode: NUL and lone surrogates."""
    text.encode()
    if "\0" in text:
        raise ValueError("a NUL character")


def tokenize(sentence: str, lowercase: bool = True, shortest: int = 1) -> list[str]:
    """Split a sentence into Penn Treebank tokens with plain quotes and brackets.

    A tokenised sentence, as in TrecQA, keeps its tokens, except that the dot of an abbreviation
    such as `Mr.` is split off.

    Tokens are in NFC; those with fewer characters than `shortest` are dropped.
    """
    sentence = nfc(sentence)
    has_marks = not sentence.isascii() and any(_is_mark(c) or c in _JOINERS for c in sentence)
    pattern = _token_with_marks() if has_marks else _TOKEN
    tokens = [_PLAIN.get(token, token) for token in pattern.findall(sentence)]
    tokens = [token for token in tokens if len(token) >= shortest]
    return [token.lower() for token in tokens] if lowercase else tokens


def as_one_word(sentence: str) -> list[str]:
    """Return the sentence as a single word, for stores of sentence vectors."""
    return [sentence]


class Sentences:
    """Unique sentences as word ids, for batches.

    Args:
        texts: sentences, which may repeat.
        word_ids: row of each word in the word vectors; None gives every word the id 0.
        split: a function that splits a sentence into words, such as `tokenize`.

    Raises AnalogyQAError for a word that is not in `word_ids`.
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
        return self._ids[number]

    def count_words(self, numbers: np.ndarray, words: int) -> np.ndarray:
        """Count the words of sentences [n]: int64 [words], for a vocabulary of `words` ids."""
        ids = [self._ids[number] for number in numbers]
        return np.bincount(np.concatenate([*ids, np.zeros(0, np.int64)]), minlength=words)

    def batch(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return word ids [n, longest], padded with 0, and lengths [n]."""
        lengths = self.lengths[numbers]
        words = np.zeros((len(numbers), int(lengths.max(initial=1))), dtype=np.int64)
        for row, number in enumerate(numbers):
            words[row, : lengths[row]] = self._ids[number]
        return words, lengths
