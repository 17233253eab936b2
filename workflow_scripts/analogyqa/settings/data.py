"""The data sets."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationInfo, field_validator, model_validator
from pydantic_core import PydanticCustomError

from analogyqa.corpora.specs import READERS
from analogyqa.errors import AnalogyQAError
from analogyqa.settings.analogies import Evaluation
from analogyqa.settings.base import (
    Count,
    Joined,
    Lenient,
    Name,
    OneOf,
    OneOrMore,
    Section,
    Split,
    checked_by,
)
from analogyqa.text import nfc

ALL = "all"  # the subset of all questions with a correct candidate; it always exists
OTHER = "other"  # the type of a question that matches no configured type
FOLD = "fold"
DATASET_OVERRIDES = ("drop_all_correct", "prototype_choice", "train_share", FOLD)


def fold_numbers(fold: str) -> tuple[int, int]:
    """Return the number of a fold, from 1, and the number of folds, in a string such as 1of5.

    Raises ValueError for any other string.
    """
    number, _, folds = fold.partition("of")
    if not (number.isdecimal() and folds.isdecimal() and 1 <= int(number) <= int(folds) > 1):
        raise ValueError("give a fold as 1of5")
    return int(number), int(folds)


def _require_encoding(name: str) -> None:
    try:
        "".encode(name)
    except LookupError:
        raise ValueError("Python knows no such encoding; examples: utf-8, cp1252, utf-16") from None


# One file with its alternatives, or, if an entry is a list, several files with alternatives each.
SplitFiles = Annotated[
    Annotated[list[str | Annotated[list[str], Field(min_length=1)]], Field(min_length=1), OneOrMore]
    | None,
    Field(validate_default=True),
]
# Null removes the expected counts of another configuration file.
ExpectedCounts = Annotated[
    dict[Split, dict[Name, Count]],
    Lenient(lambda counts: {} if counts is None else counts, types=("null",)),
]


class Dataset(Section):
    """A data set: its reader, and the files of its splits.

    A data set whose reader gives relations consists of sentence pairs, between which analogies are
    solved. It has either `categories` or, as `test`, a folder with one file for each category.

    Args:
        title: The name in tables and figures.
        reader: A key of `READERS`.
        columns: The names of the columns of a table, by `question`, `candidate`, `label` and `id`;
            the usual names are found.
        encoding: The encoding of a table; null for UTF-8, or else what Excel writes.
        train, dev, test: The name of a source in sources.yaml, a path (with a slash in it), or a
            list of alternatives, of which the first available one is read. If an entry of the list
            is a list of alternatives itself, all entries are read, one after the other. With a
            `fold`, dev and test may be missing.
        categories: The categories of sentence pairs that are made here.
        evaluation: How analogies between sentence pairs are asked and answered.
        parts: The parts of a file that make up each split, for a file that holds several splits.
        questions: The expected number of questions of each type, by split.
        drop_all_correct: The splits without questions whose candidates are all correct, as in the
            "clean" TrecQA.
        prototype_choice: What is shuffled to choose prototypes; see `choose_prototypes`.
        train_share: The share of the training questions that is kept; see `corpora.shares`.
        fold: The fold whose splits are used, such as 1of5; see `corpora.folds`. It splits a data
            set that has no splits of its own, too.
    """

    title: str
    reader: Annotated[str, OneOf(READERS)]
    fold: Annotated[str, checked_by(fold_numbers)] | None = None
    columns: dict[Literal["question", "candidate", "label", "id"], str] = {}
    encoding: Annotated[str, checked_by(_require_encoding)] | None = None
    train: SplitFiles = None
    dev: SplitFiles = None
    test: SplitFiles = None
    categories: list[Name] = []
    evaluation: Evaluation = Evaluation()
    parts: dict[Split, list[str]] = {}
    questions: ExpectedCounts = {}
    drop_all_correct: Annotated[list[Split], Joined] = []
    prototype_choice: Literal["pair", "question"] = "pair"
    train_share: float = Field(default=1, gt=0, le=1)

    @field_validator("train", "dev", "test")
    @classmethod
    def _check_split(cls, split: list | None, info: ValidationInfo) -> list | None:
        reader = info.data.get("reader")
        is_made = info.data.get("fold") and info.field_name != "train"
        if split is None and not (reader is None or is_made or READERS[reader].gives_relations):
            if info.field_name == "train":
                raise PydanticCustomError("missing", "Field required")
            raise ValueError("name its file, or let `fold: 1of5` split the questions of train")
        return split

    @model_validator(mode="after")
    def _check_reader_inputs(self) -> "Dataset":
        for name in ("columns", "encoding"):
            if getattr(self, name) and not READERS[self.reader].has_columns:
                raise ValueError(f"the reader {self.reader} has no {name}; the reader table has")
        if not self.gives_relations:
            for name, value in (("categories", []), ("evaluation", Evaluation())):
                if getattr(self, name) != value:
                    raise ValueError(f"the reader {self.reader} has no {name}")
        given = [name for name in ("train", "dev", "test", "categories") if getattr(self, name)]
        if self.gives_relations and given not in (["test"], ["categories"]):
            raise ValueError(
                f"the reader {self.reader} needs categories, or a folder as test, and nothing else"
            )
        if self.evaluation.weighted_by == "configured" and not self.categories:
            raise ValueError("evaluation.weighted_by: a folder of relations configures no pairs")
        return self

    def evaluation_at(self, overrides: Iterable[tuple[str, str]]) -> Evaluation:
        """Return the evaluation with overrides, of which others are ignored."""
        changes = {name: value for name, value in overrides if name in Evaluation.model_fields}
        return Evaluation.model_validate(self.evaluation.model_dump() | changes)

    @property
    def gives_relations(self) -> bool:
        """Whether analogies are solved on it instead of ranking candidates."""
        return READERS[self.reader].gives_relations

    @property
    def reader_options(self) -> dict[str, object]:
        """The arguments of its reader, besides the path."""
        has_columns = READERS[self.reader].has_columns
        return {"columns": self.columns, "encoding": self.encoding} if has_columns else {}

    def split_files(self, split: str) -> list[list[str]]:
        """Return the files of a split, each as a list of alternatives; [] for none."""
        files = getattr(self, split) or []
        if files and all(isinstance(file, str) for file in files):
            return [files]
        return [[file] if isinstance(file, str) else file for file in files]

    @property
    def folder(self) -> str | None:
        """The folder with its relations, None if they are made here or it has questions."""
        return self.split_files("test")[0][0] if self.gives_relations and self.test else None

    @property
    def relations(self) -> list[str]:
        """The names of its categories of sentence pairs."""
        if self.folder is None:
            return self.categories
        return [path.stem for path in relation_files(Path(self.folder))]


_BACKUPS = ("~", ".bak", ".orig", ".save", ".swp", ".tmp")


def relation_files(folder: Path) -> list[Path]:
    """Return the relation files of a folder, sorted by name; the stem is the relation's name.

    Hidden files and editor backups (`capital.txt~`, `#capital.txt#`, `capital.txt.bak`) are
    ignored. Raises AnalogyQAError when two files have the same stem.
    """
    files = sorted(folder.iterdir()) if folder.is_dir() else []
    relations: dict[str, Path] = {}
    for path in files:
        if not path.is_file() or path.name.startswith((".", "#")) or path.name.endswith(_BACKUPS):
            continue
        first = relations.setdefault(nfc(path.stem), path)
        if first != path:
            raise AnalogyQAError(
                f"{folder}: both {first.name} and {path.name} would be the relation {path.stem}. "
                "Rename one of them, or move it to another folder."
            )
    return list(relations.values())
