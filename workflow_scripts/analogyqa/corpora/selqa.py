"""SelQA, answer sentence selection (Jurczyk, Zhai and Choi 2016): sections of Wikipedia articles.

A file is a JSON list of questions. The candidates of a question are the sentences of one section,
and `answers` are the indices of the right ones, from 0. Most articles have questions in several
splits.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from analogyqa.corpora.table import Pair
from analogyqa.errors import AnalogyQAError
from analogyqa.files import decode_text, read_bytes
from analogyqa.settings.base import checked_by, error_message
from analogyqa.text import nfc, require_text


def _with_single_spaces(text: str) -> str:
    require_text(text)
    return nfc(" ".join(text.split()))


def _require_words(text: str) -> None:
    if not text:
        raise ValueError("the text is empty")


_Sentence = Annotated[str, AfterValidator(_with_single_spaces)]
_Text = Annotated[_Sentence, checked_by(_require_words)]


class _Question(BaseModel):
    model_config = ConfigDict(strict=True)

    question: _Text
    article: _Text
    candidates: Annotated[list[_Sentence], Field(min_length=1)]
    answers: list[int]

    @model_validator(mode="after")
    def _answers_have_text(self) -> "_Question":
        for answer in self.answers:
            if not 0 <= answer < len(self.candidates) or not self.candidates[answer]:
                raise ValueError(f"answer {answer} is no candidate, or an empty one")
        return self


def read(path: str | Path) -> Iterator[Pair]:
    """Yield the pairs of one split's file, with normalised white space.

    The id of a question is its number in the file, from 1. So is its `line`, because a file has
    only one. Empty candidates are skipped, as in the authors' own tables for experiments.

    Raises:
        AnalogyQAError: for malformed JSON, a missing or empty text, or an answer that is no
            candidate.
    """
    for number, item in enumerate(_load(path), start=1):
        for index, candidate in enumerate(item.candidates):
            if candidate:
                label = int(index in item.answers)
                yield Pair(
                    number, str(number), item.question, candidate, label, article=item.article
                )


def _load(path: str | Path) -> list[_Question]:
    text = decode_text(read_bytes(path), path)
    try:
        return TypeAdapter(list[_Question]).validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        number, *keys = first["loc"] or (None,)
        place = f"{path}, question {int(number) + 1}" if number is not None else path
        cause = ": ".join([".".join(map(str, keys)), error_message(first)]).removeprefix(": ")
        raise AnalogyQAError(f"{place}: {cause}. Fetch the file again.") from error
