"""The data sets."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from analogyqa.errors import AnalogyQAError
from analogyqa.registry import READERS
from analogyqa.settings.base import Alternatives, Count, Joined, Name, Section
from analogyqa.text import nfc

Split = Literal["train", "dev", "test"]
ALL = "all"  # the subset of every question that has a correct candidate; always there
OTHER = "other"  # the type, in the subset `all`, of a question that has none
FOLD = "fold"
DATASET_OVERRIDES = ("drop_all_correct", "prototype_choice", "train_share", FOLD)


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


SplitFiles = Annotated[Alternatives | None, Field(validate_default=True)]


class Dataset(Section):
    """One data set: who reads it, and where its splits come from.

    A split is the name of a source in sources.yaml, a path (one that holds a slash), or a list of
    alternatives of which the first available is taken; of a file that holds several splits `parts`
    says which of its parts make each. Of the splits in `drop_all_correct` the
    questions whose candidates are all correct are left out, as in the "clean" TrecQA.
    `prototype_choice` says what is shuffled to choose prototypes: see `choose_prototypes`. Of the
    training questions `train_share` is kept: see `corpora.shares`. Of a `fold`, such as 1of5, the
    splits are those of cross-validation: see `corpora.folds`.

    One whose reader gives relations has pairs of sentences, of which analogies are solved: those of
    the `categories` that are made here, or of a folder, its `test`, with a file for each category.
    """

    title: str
    reader: Literal[tuple(READERS)]  # type: ignore[valid-type]
    train: SplitFiles = None
    dev: SplitFiles = None
    test: SplitFiles = None
    categories: list[Name] = []
    parts: dict[Split, list[str]] = {}
    questions: Annotated[dict[Split, dict[Name, Count]], BeforeValidator(_none_expected)] = {}
    drop_all_correct: Annotated[list[Split], Joined] = []
    prototype_choice: Literal["pair", "question"] = "pair"
    train_share: float = Field(default=1, gt=0, le=1)
    fold: Annotated[str, AfterValidator(_is_fold)] | None = None

    @field_validator("train", "dev", "test")
    @classmethod
    def _is_there(cls, split: list[str] | None, info: ValidationInfo) -> list[str] | None:
        reader = info.data.get("reader")
        if split is None and reader is not None and not READERS[reader].gives_relations:
            raise PydanticCustomError("missing", "Field required")
        return split

    @model_validator(mode="after")
    def _has_what_its_reader_reads(self) -> "Dataset":
        if not self.solved and self.categories:
            raise ValueError(f"the reader {self.reader} has no categories")
        given = [name for name in ("train", "dev", "test", "categories") if getattr(self, name)]
        if self.solved and given not in (["test"], ["categories"]):
            raise ValueError(f"reader: {self.reader}: give categories, or a folder as test")
        return self

    @property
    def solved(self) -> bool:
        """Whether analogies are solved on it, and no candidates ranked."""
        return READERS[self.reader].gives_relations

    @property
    def relations(self) -> list[str]:
        """The categories of pairs that it has."""
        folder = Path(self.test[0]) if self.solved and self.test else None
        return [path.stem for path in relation_files(folder)] if folder else self.categories


_BACKUPS = ("~", ".bak", ".orig", ".save", ".swp", ".tmp")


def relation_files(folder: Path) -> list[Path]:
    """Return the files of a folder that are relations, by name; a stem is the relation's name.

    Hidden files and the backups of editors (`capital.txt~`, `#capital.txt#`, `capital.txt.bak`) are
    passed over. Raises AnalogyQAError when two files have one stem.
    """
    files = sorted(folder.iterdir()) if folder.is_dir() else []
    relations: dict[str, Path] = {}
    for path in files:
        if not path.is_file() or path.name.startswith((".", "#")) or path.name.endswith(_BACKUPS):
            continue
        before = relations.setdefault(nfc(path.stem), path)
        if before != path:
            raise AnalogyQAError(
                f"{folder}: both {before.name} and {path.name} would be the relation {path.stem}. "
                "Rename one of them or take it out of the folder."
            )
    return list(relations.values())
