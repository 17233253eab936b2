"""What a paper prints: its tables and figures, and its claims."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from pydantic import Field, ValidationError, model_validator

from analogyqa.errors import AnalogyQAError
from analogyqa.measures import MEASURES
from analogyqa.question_types import SUBSETS
from analogyqa.schemas import SPLITS
from analogyqa.settings.base import Count, Name, Section, explain_error
from analogyqa.yaml_files import read_yaml


class Where(Section):
    """Which of our numbers a published value or a claim is about, or a part of that."""

    model: str | None = None
    dataset: str | None = None
    subset: Literal[SUBSETS] | None = None  # type: ignore[valid-type]
    split: Literal[SPLITS] | None = None  # type: ignore[valid-type]
    p: Count | None = None
    metric: Literal[tuple(MEASURES)] | None = None  # type: ignore[valid-type]

    def __or__(self, other: "Where") -> "Where":
        """Return what both say together; ValueError when both say the same key."""
        if twice := self.model_fields_set & other.model_fields_set:
            raise ValueError(f"{sorted(twice)} is given twice")
        return Where(**self.model_dump(exclude_unset=True), **other.model_dump(exclude_unset=True))


class Published(NamedTuple):
    """One number that a paper prints."""

    row: str
    column: str
    where: Where
    published: float


_NEEDED = {
    "questions": {"dataset", "subset", "split"},
    "score": {"model", "dataset", "subset", "metric"},
    "best_p": {"model", "dataset", "subset", "metric"},
}


class Artefact(Section):
    """A table or figure of a paper: the layout, the printed values, and what they stand for."""

    title: str
    value: Literal[tuple(_NEEDED)]  # type: ignore[valid-type]
    cells: Where = Where()
    columns: dict[str, Where] = Field(min_length=1)
    rows: dict[str, Where] = Field(min_length=1)
    published: dict[str, list[Annotated[float, Field(strict=True, ge=0)]]]

    @model_validator(mode="after")
    def _complete(self) -> "Artefact":
        if list(self.published) != list(self.rows):
            raise ValueError(f"published has rows {list(self.published)}, rows {list(self.rows)}")
        for row, values in self.published.items():
            if len(values) != len(self.columns):
                raise ValueError(f"{row}: {len(values)} values for {len(self.columns)} columns")
        needed = _NEEDED[self.value]
        for cell in self.numbers():
            given = cell.where.model_fields_set
            if given != needed:
                raise ValueError(
                    f"{cell.row}, {cell.column}: {sorted(given)} given, {sorted(needed)} needed"
                )
            if self.value == "score" and cell.published > 1:
                raise ValueError(f"{cell.row}, {cell.column}: {cell.published} is above 1")
        return self

    @property
    def systems_in_rows(self) -> bool:
        """Whether the rows, not the columns, name the systems."""
        return any(where.model is not None for where in self.rows.values())

    def numbers(self) -> Iterator[Published]:
        """Yield every published number, row by row."""
        for row, values in self.published.items():
            for column, value in zip(self.columns, values, strict=True):
                yield Published(row, column, self.where(row, column), value)

    def cells_of(self, system: str) -> Iterator[tuple[str, str, Where]]:
        """Yield row, column and place of each cell that another system would have here."""
        if self.systems_in_rows:
            for column in self.columns:
                yield system, column, self.where(column=column)
        else:
            for row in self.rows:
                yield row, system, self.where(row=row)

    def where(self, row: str | None = None, column: str | None = None) -> Where:
        """Return what a row and a column, or only one of them, say together with `cells`.

        Raises ValueError when two of them say the same key.
        """
        try:
            return self.cells | self.rows.get(row, Where()) | self.columns.get(column, Where())
        except ValueError as error:
            raise ValueError(f"{row}, {column}: {error}") from None


class Comparison(Section):
    """Two systems of which a claim says that one is better, on the same questions."""

    better: Where
    worse: Where
    cells: Where = Where()


class Claim(Section):
    """What a paper says about its numbers: at least `needs` of the comparisons are true.

    `cells` is said of both sides of every comparison. Without `needs` all must be true.
    """

    claim: str
    where: str
    cells: Where = Where()
    needs: Count | None = None
    comparisons: list[Comparison] = Field(min_length=1)

    @model_validator(mode="after")
    def _complete(self) -> "Claim":
        needed = {"model", "dataset", "subset", "metric"}
        for better, worse in self.sides():
            for side in (better, worse):
                given = side.model_fields_set
                if given - {"p"} != needed:
                    raise ValueError(
                        f"{sorted(given)} given, {sorted(needed)} needed (and p where it is not "
                        "the configured one)"
                    )
            if better == worse:
                raise ValueError(f"{better.model} is compared with itself")
            if (better.dataset, better.subset) != (worse.dataset, worse.subset):
                raise ValueError(
                    f"{better.model}, {worse.model}: both sides need the same dataset and subset, "
                    "because their questions are compared in pairs"
                )
        if self.needed > len(self.comparisons):
            raise ValueError(f"needs: {self.needs} of {len(self.comparisons)} comparisons")
        return self

    @property
    def needed(self) -> int:
        return self.needs or len(self.comparisons)

    def sides(self) -> list[tuple[Where, Where]]:
        """Return the better and the worse side of each comparison, with all that is said of them.

        Raises ValueError when a key is given twice.
        """
        common = [self.cells | comparison.cells for comparison in self.comparisons]
        return [
            (cells | comparison.better, cells | comparison.worse)
            for cells, comparison in zip(common, self.comparisons, strict=True)
        ]


class Paper(Section):
    """One file of papers/."""

    paper: Name
    citation: str
    artefacts: dict[Annotated[str, Field(pattern=r"^(table|figure)\d+$")], Artefact]
    claims: dict[Name, Claim] = Field(default={})

    def only(self, name: str) -> "Paper":
        """Return the paper with one of its tables or figures, and no claims."""
        artefacts = {name: self.artefacts[name]}
        return self.model_copy(update={"artefacts": artefacts, "claims": {}})


def load_paper(path: str | Path) -> Paper:
    """Read the published values of one paper.

    Raises AnalogyQAError, one line for each wrong or unknown key, with the key.
    """
    try:
        return Paper.model_validate(read_yaml(path))
    except ValidationError as error:
        raise AnalogyQAError(
            "\n".join(f"{path}: {explain_error(Paper, item)}" for item in error.errors())
        ) from None
