"""The split of YahooCQA that Tay et al. (2017) released: a zip archive with one pickle.

The pickle maps train, dev and test to questions, and each question to a list of [answer, label].
"""

import pickle
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from pydantic import TypeAdapter, ValidationError

from analogyqa.corpora.table import Pair, parse_label
from analogyqa.errors import AnalogyQAError
from analogyqa.text import nfc

_Splits = dict[str, dict[str, list[tuple[str, int | str]]]]


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
    for part, questions in _load(path).items():
        for question, answers in questions.items():
            question_number += 1
            for answer, label_text in answers:
                line += 1
                label = parse_label(str(label_text), path, line)
                yield Pair(line, str(question_number), nfc(question), nfc(answer), label, part)


def _load(path: str | Path) -> _Splits:
    try:
        with zipfile.ZipFile(path) as archive:
            (name,) = (info for info in archive.infolist() if not info.is_dir())
            with archive.open(name) as file:
                # Texts of Python 2 are bytes.
                content = _PlainUnpickler(file, encoding="utf-8").load()
        return TypeAdapter(_Splits).validate_python(content)
    except Exception as error:  # a damaged pickle can raise almost any exception
        cause = f"not an archive of one plain pickle ({error})"
        if isinstance(error, ValidationError):
            cause = "the pickle lacks the form {split: {question: [[answer, label], ..]}}"
        raise AnalogyQAError(f"{path}: {cause}. Fetch the file again.") from error
