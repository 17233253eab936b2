"""The data sets."""

from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator

from analogyqa.registry import READERS
from analogyqa.settings.base import Alternatives, Count, Joined, Name, Section

Split = Literal["train", "dev", "test"]
ALL = "all"  # the subset of every question that has a correct candidate; always there
OTHER = "other"  # the type, in the subset `all`, of a question that has none
FOLD = "fold"
DATASET_AXES = ("drop_all_correct", "prototype_choice", FOLD)


def _none_expected(questions: object) -> object:
    """Null: another configuration file's counts do not hold for this data."""
    return {} if questions is None else questions


def fold_name(number: int, folds: int) -> str:
    return f"{number}of{folds}"


def fold_numbers(fold: str) -> tuple[int, int]:
    """Return the number of a fold, from 1, and how many there are; ValueError for no such name."""
    number, _, folds = fold.partition("of")
    if not (number.isdecimal() and folds.isdecimal() and 1 <= int(number) <= int(folds) > 1):
        raise ValueError("give a fold as 1of5")
    return int(number), int(folds)


def _is_fold(fold: str) -> str:
    fold_numbers(fold)
    return fold


class Dataset(Section):
    """One data set: who reads it, and where its splits come from.

    A split is the name of a source in sources.yaml, a path (one that holds a slash), or a list of
    alternatives of which the first available is taken; of a file that holds several splits `parts`
    says which of its parts make each. Of the splits in `drop_all_correct` the
    questions whose candidates are all correct are left out, as in the "clean" TrecQA.
    `prototype_choice` says what is shuffled to choose prototypes: see `choose_prototypes`. Of a
    `fold`, such as 1of5, the splits are those of cross-fitting: see `corpora.folds`.
    """

    title: str
    reader: Literal[tuple(READERS)]  # type: ignore[valid-type]
    train: Alternatives
    dev: Alternatives
    test: Alternatives
    parts: dict[Split, list[str]] = {}
    questions: Annotated[dict[Split, dict[Name, Count]], BeforeValidator(_none_expected)] = {}
    drop_all_correct: Annotated[list[Split], Joined] = []
    prototype_choice: Literal["pair", "question"] = "pair"
    fold: Annotated[str, AfterValidator(_is_fold)] | None = None
