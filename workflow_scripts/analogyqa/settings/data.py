"""The data sets, the categories of sentence pairs, and how analogies between them are solved."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationInfo, field_validator, model_validator
from pydantic_core import PydanticCustomError

from analogyqa.analogies.specs import DISTRACTOR_STYLES, RELATIONS, SOLVERS
from analogyqa.corpora.specs import READERS
from analogyqa.errors import AnalogyQAError
from analogyqa.settings.base import (
    Alternatives,
    Count,
    Joined,
    Lenient,
    Name,
    OneOf,
    OneOrMore,
    Overridable,
    Section,
    Split,
    WholeNumber,
    checked_by,
    override_paths,
)
from analogyqa.text import nfc

SOLVER, TRAINED_ON, WEIGHTED_BY = "solver", "trained_on", "weighted_by"


class Category(Section):
    """How the sentence pairs of a category are made."""

    title: str
    """The heading of the category's review page."""
    rule: Annotated[list[Annotated[str, OneOf(RELATIONS)]], OneOrMore] = []
    """A key of `RELATIONS`; several rules over parsed sentences give equally many pairs each."""
    pairs: Count
    """The maximum number of pairs."""
    each: Count = 20
    """The maximum number of pairs with the same changed word, such as an adjective."""
    words: tuple[Alternatives, str] | None = None
    """A file of word analogies and its section, for rules with templates."""
    templates: list[str | tuple[str, str]] = []
    """Sentences with {} for the word, or pairs of one sentence for each side."""
    names: dict[str, str] = {}
    """How sentences write a word, such as "the USA", by word."""
    texts: list[Alternatives] = []
    """Files of sentences, for rules over parsed sentences."""
    holding: list[str] = []
    """Words of which a sentence must contain at least one to be parsed."""
    inference: list[Alternatives] = []
    """Files of natural language inference, for rules that read their labels."""
    relatedness: float | None = None
    """The minimum relatedness of a pair of `inference`, in files of SICK."""
    triplets: list[Alternatives] = []
    """Files with two sentences and the distractor "not negation" on each line; see
    `analogies.induce`. Their pairs come before those of the rule, and need none."""
    triplet_columns: tuple[Count, Count, Count] = (1, 2, 3)
    """The columns of the first sentence, the second and the distractor in `triplets`."""
    length: tuple[WholeNumber, WholeNumber] = (4, 20)
    """The minimum and maximum number of words in a sentence."""
    distractors: Annotated[str, OneOf(DISTRACTOR_STYLES)] | None = None
    """Gives each pair candidates of its own, instead of all sentences of the category: the answer
    and distractors, drawn as the text of Zhu and de Melo (2020) describes them or as they coded
    them; see `analogies.distractors`."""

    @model_validator(mode="after")
    def _check_rule_inputs(self) -> "Category":
        reads = (self.templates and self.words, self.texts, self.inference)
        if sum(map(bool, reads)) != 1 and (self.rule or not self.triplets or any(reads)):
            raise ValueError(
                "give exactly one of: templates with words, texts, inference; or triplets alone"
            )
        if sorted(self.triplet_columns) != [1, 2, 3]:
            raise ValueError("triplet_columns: give 1, 2 and 3 in some order")
        for rule in self.rule:
            if RELATIONS[rule].parses != bool(self.texts):
                needs = "needs" if RELATIONS[rule].parses else "reads no"
                raise ValueError(f"the rule {rule} {needs} texts")
        if any(reads) and not self.rule:
            raise ValueError("rule: name one")
        if len(self.rule) > 1 and not self.texts:
            raise ValueError("rule: only rules over texts can be combined")
        return self

    @property
    def parses(self) -> bool:
        """Whether a parser is needed, for the rule or for distractors."""
        return bool(self.texts or self.distractors)

    @property
    def sides(self) -> list[tuple[str, str]]:
        """The templates as pairs of the sentences of both sides."""
        return [(side, side) if isinstance(side, str) else side for side in self.templates]


class Evaluation(Section):
    """How analogies are asked, answered and averaged."""

    both_directions: bool = False
    """Whether both pairs of an analogy are asked for, or only one; see `analogies.solve`."""
    candidates: Literal["described", "coded"] = "described"
    """The candidates that Zhu and de Melo (2020) describe or code; see `analogies.solve`."""
    ties: Literal["shared", "first"] = "shared"
    """Whether the first of equal scores wins, or all share that differ by less than 1e-6."""
    epsilon: Annotated[
        list[Annotated[float, Field(gt=0)]], Joined, Field(min_length=2, max_length=2)
    ] = [1e-5, 1e-5]
    """The epsilon of 3CosMul on raw cosines, in categories without distractors and with them."""
    weighted_by: Literal["found", "configured"] = "found"
    """A category's weight in a mean: the analogies found, or those that its `pairs` would give."""


class Solving(Evaluation):
    """The overrides of how a cell solves analogies."""

    solver: Annotated[str, OneOf(SOLVERS)] = next(iter(SOLVERS))
    """A key of `SOLVERS`."""
    trained_on: Annotated[list[str], Joined, Field(min_length=2, max_length=2)] | None = None
    """The data set and the subset of the cell whose trained encoder is used."""


SOLVING_OVERRIDES = tuple(override_paths(Solving))


class Parser(Section):
    """The parser of sentences."""

    model: Alternatives
    """The spaCy model, given as in `named_entities`."""


ALL = "all"  # the subset of all questions with a correct candidate; it always exists
OTHER = "other"  # the type of a question that matches no configured type
FOLD = "fold"
# What may follow the name of a fold: its partition of the questions, or, for a cell, how far its
# seeds are from those that name their partitions.
PARTITION, SHIFT = "-partition", "-shift"
_FOLD = re.compile(rf"(\d+)of(\d+)(?:{PARTITION}(\d+)|{SHIFT}\d+)?")


def fold_numbers(fold: str) -> tuple[int, int, int]:
    """Return the number of a fold, from 1, that of all folds, and that of their partition.

    Raises ValueError unless it is given as 1of5, whose partition is 0, or as 1of5-partition3.
    """
    match = _FOLD.fullmatch(fold)
    number, folds, partition = map(int, match.groups("0")) if match else (0, 0, 0)
    if not 1 <= number <= folds > 1:
        raise ValueError("give a fold as 1of5")
    return number, folds, partition


def _require_encoding(name: str) -> None:
    try:
        "".encode(name)
    except LookupError:
        raise ValueError("Python knows no such encoding; examples: utf-8, cp1252, utf-16") from None


# One file with its alternatives, or, if an entry is a list, several files with alternatives each.
_Files = list[str | Annotated[list[str], Field(min_length=1)]]
SplitFiles = Annotated[
    Annotated[_Files, Field(min_length=1), OneOrMore] | None, Field(validate_default=True)
]
TrainFiles = Annotated[Annotated[_Files, OneOrMore] | None, Field(validate_default=True)]
# Null removes the expected counts of another configuration file.
ExpectedCounts = Annotated[
    dict[Split, dict[Name, Count]],
    Lenient(lambda counts: {} if counts is None else counts, types=("null",)),
]


PrototypeChoice = Literal["pair", "question", "other_type"]


class Dataset(Section):
    """A data set: its reader, and the files of its splits.

    A data set whose reader gives relations consists of sentence pairs, between which analogies are
    solved. It has either `categories` or, as `test`, a folder with one file for each category.
    """

    title: str
    """The name in tables and figures."""
    reader: Annotated[str, OneOf(READERS)]
    """A key of `READERS`."""
    fold: Overridable[Annotated[str, checked_by(fold_numbers)] | None] = None
    """The fold whose splits are used, such as 1of5; see `corpora.questions`. It splits a data set
    that has no splits of its own, too. All seeds then have one partition of the questions, whereas
    those of a cross-validation have one each."""
    columns: dict[Literal["question", "candidate", "label", "id"], str] = {}
    """The names of a table's columns; the usual ones are found."""
    encoding: Annotated[str, checked_by(_require_encoding)] | None = None
    """The encoding of a table; null for UTF-8, or else what Excel writes."""
    train: TrainFiles = None
    """A source in sources.yaml, a path (with a slash in it), or a list of alternatives, of which
    the first available one is read. All entries of a list with lists of alternatives are read. With
    [], the data set has no train split, and is only cross-validated."""
    dev: SplitFiles = None
    """The development split, given like `train`; a `fold` may make it."""
    test: SplitFiles = None
    """The test split, given like `train`; a `fold` may make it."""
    categories: list[Name] = []
    """The categories of sentence pairs that are made here."""
    evaluation: Evaluation = Evaluation()
    """How analogies between sentence pairs are asked and answered."""
    comparable: bool = True
    """Whether its questions or pairs are the paper's. Without it, tables show how much our scores
    differ from the published ones, and there are no verdicts on these."""
    parts: dict[Split, list[str]] = {}
    """The parts of a file that make up each split, for a file that holds several splits."""
    questions: ExpectedCounts = {}
    """The expected number of questions of each type, by split."""
    drop_all_correct: Overridable[Annotated[list[Split], Joined]] = []
    """The splits without questions whose candidates are all correct, as in the "clean" TrecQA."""
    prototype_choice: Overridable[PrototypeChoice] = "pair"
    """What is shuffled to choose prototypes, or `other_type` for a control; see
    `choose_prototypes`."""
    train_share: Overridable[float] = Field(default=1, gt=0, le=1)
    """The share of the training questions that is kept; see `corpora.shares`."""

    @field_validator("train", "dev", "test")
    @classmethod
    def _check_split(cls, split: list | None, info: ValidationInfo) -> list | None:
        reader = info.data.get("reader")
        has_train = info.data.get("train") != []
        is_made = info.data.get("fold") and has_train and info.field_name != "train"
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
            self.refuse({"categories", "evaluation"}, f"the reader {self.reader}")
        given = [name for name in ("train", "dev", "test", "categories") if getattr(self, name)]
        if self.gives_relations and given not in (["test"], ["categories"]):
            inputs = "categories, or a folder as test, and nothing else"
            raise ValueError(f"the reader {self.reader} needs {inputs}")
        if self.evaluation.weighted_by == "configured" and not self.categories:
            raise ValueError("evaluation.weighted_by: a folder of relations configures no pairs")
        return self

    def evaluation_at(self, overrides: Iterable[tuple[str, str]]) -> Evaluation:
        """Return the evaluation with overrides, of which others are ignored."""
        return self.evaluation.changed(
            {name: value for name, value in overrides if name in Evaluation.model_fields}
        )

    @property
    def gives_relations(self) -> bool:
        """Whether analogies are solved on it instead of ranking candidates."""
        return READERS[self.reader].gives_relations

    @property
    def is_only_folded(self) -> bool:
        """Whether it has no train split, unless a fold makes one."""
        return self.train == [] and not self.fold

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


DATASET_OVERRIDES = tuple(override_paths(Dataset))

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
