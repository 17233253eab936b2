"""The split of YahooCQA that Tay et al. (2017) released: a zip archive with one pickle.

The pickle maps train, dev and test to questions, and each question to a list of [answer, label].
"""

import pickle
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from analogyqa.corpora.table import Pair, parse_label
from analogyqa.errors import AnalogyQAError
from analogyqa.text import nfc


class _PlainUnpickler(pickle.Unpickler):
    """Builds containers, texts and numbers only, which need no class and run no code."""

    def find_class(self, module: str, name: str) -> NoReturn:
        raise pickle.UnpicklingError(f"it names {module}.{name}, and could run code")


def read(path: str | Path) -> Iterator[Pair]:
    """Yield the pairs of all splits, with running numbers as question ids and lines.

    `part` is the name of the split.

    Raises:
        AnalogyQAError: for anything but an archive of one pickle as above, and for a pickle that
            names a class or a function, which it may not run.
    """
    line = question_number = 0
    for part, questions in _mapping(_unpickled(path), path).items():
        for question, answers in _mapping(questions, path).items():
            question_number += 1
            for answer in _sequence(answers, path):
                line += 1
                candidate, label = _answer(answer, path)
                texts = nfc(_text(question, path)), nfc(candidate)
                yield Pair(line, str(question_number), *texts, label, _text(part, path))


def _unpickled(path: str | Path) -> object:
    try:
        with zipfile.ZipFile(path) as archive:
            files = [info for info in archive.infolist() if not info.is_dir()]
            if len(files) != 1:
                raise _fail(path, f"{len(files)} files in this archive instead of one pickle")
            with archive.open(files[0]) as file:
                # Texts of Python 2 are bytes.
                return _PlainUnpickler(file, encoding="utf-8").load()
    except AnalogyQAError:
        raise
    # A damaged pickle can raise almost any exception.
    except Exception as error:
        raise _fail(path, f"not an archive of one plain pickle ({error})") from error


def _mapping(value: object, path: str | Path) -> dict:
    if not isinstance(value, dict):
        raise _fail(path, "the pickle lacks the form {split: {question: [[answer, label], ..]}}")
    return value


def _sequence(value: object, path: str | Path) -> list | tuple:
    if not isinstance(value, list | tuple):
        raise _fail(path, "the answers of a question are not a list")
    return value


def _answer(value: object, path: str | Path) -> tuple[str, int]:
    answer = _sequence(value, path)
    if len(answer) != 2:
        raise _fail(path, "an answer is not a pair of a text and a label")
    return _text(answer[0], path), parse_label(str(answer[1]), path, 0)


def _text(value: object, path: str | Path) -> str:
    if not isinstance(value, str):
        raise _fail(path, "a question or an answer is not a text")
    return value


def _fail(path: str | Path, problem: str) -> AnalogyQAError:
    return AnalogyQAError(f"{path}: {problem}. Fetch the file again.")
