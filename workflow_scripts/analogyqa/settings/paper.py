"""The tables, figures, numbers and claims of a paper."""

import re
from collections.abc import Iterator
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from pydantic import AfterValidator, Field, ValidationError, model_validator

from analogyqa.errors import AnalogyQAError
from analogyqa.files import read_yaml
from analogyqa.measures import MEASURES
from analogyqa.settings.base import Name, Section, explain_error
from analogyqa.settings.claims import Claim
from analogyqa.settings.coordinates import COST, KINDS, NORM, SCORE, Coordinates, require_given
from analogyqa.settings.overrides import CONDITIONS, text_of
from analogyqa.settings.printed import (
    DIGITS,
    NOT_PRINTED,
    MeansOf,
    PrintedRow,
    ShownName,
    last_digits,
    require_lengths,
    with_means,
)
from analogyqa.settings.views import View

Cited = Literal["cited"]
CITED: Cited = "cited"  # a row or column of published values that have no counterpart of ours
OWN = "own"  # the pseudo-paper with the user's own data sets
BEST = "best"  # the kind of a published number that is the best point of an axis


class Published(NamedTuple):
    """A number of a paper, in our unit; `published` is None if the paper does not print it.

    `kind` is the kind of our value: a score, a count, a cost, or the best point of an axis; a
    cited number has none, and the coordinates of a row that cites name no system.
    """

    row: str
    column: str
    coordinates: Coordinates
    published: float | None
    kind: str
    step: float = 1  # the unit of the last printed digit


def _coordinates_at(name: str | None, lines: dict[str, Coordinates | Cited]) -> Coordinates:
    line = None if name is None else lines.get(name)
    return line if isinstance(line, Coordinates) else Coordinates()


def _name_systems(lines: dict[str, Coordinates | Cited]) -> bool:
    return any(isinstance(line, Coordinates) and line.system for line in lines.values())


_TABLE_KEYS = {"columns", "rows", "published", "means_of", "scale", "remarks", "top_group"}
_FIGURE_KEYS = {"y", "lines", "panels", "best", "stacked", "references"}


class Artefact(Section):
    """A table or figure of a paper: its layout, its printed values, and their coordinates.

    A table has columns and rows. A figure has an axis x and either lines or a second axis y, which
    makes it a heat map. Rows, columns, lines, panels and points each give a part of the coordinates
    of our values.

    Args:
        title: The caption.
        cells: The coordinates that all values share.
        columns, rows: The coordinates of each column and row of a table; `cited` for values that
            have no counterpart of ours.
        remarks: What a reader must know about the values of a row or column, by its name.
        top_group: Whether to mark, in each column of a table, the systems not significantly
            different from the best.
        published: The printed values of each row. Counts and costs may have a unit (90K, 12s).
        means_of: The tables that published values follow from, if they are not given.
        scale: The number by which printed scores are divided to be in the same unit as ours.
        x, y: The name of an override or coordinate, and its points.
        lines, panels: The coordinates of each line and panel of a figure.
        best: The points at which the text says that a line is highest, one for each panel.
        references: Printed values of other systems, drawn as horizontal lines.
        stacked: Whether lines are shares of a whole, which are drawn as stacked bars.
    """

    title: str
    cells: Coordinates = Coordinates()
    columns: dict[str, Coordinates | Cited] = {}
    rows: dict[str, Coordinates | Cited] = {}
    remarks: dict[str, str] = {}
    top_group: bool = False
    published: dict[str, PrintedRow] = {}
    means_of: MeansOf | None = None
    scale: Annotated[float, Field(gt=0)] = 1
    x: dict[str, Annotated[list, Field(min_length=1)]] = {}
    y: dict[str, Annotated[list, Field(min_length=1)]] = {}
    lines: dict[str, Coordinates] = {}
    panels: dict[str, Coordinates] = {"": Coordinates()}
    best: dict[str, list[Annotated[float, Field(strict=True)]]] = {}
    references: dict[str, float] = {}
    stacked: bool = False

    @model_validator(mode="after")
    def _check_layout(self) -> "Artefact":
        if bool(self.x) == bool(self.columns and self.rows):
            raise ValueError("give columns and rows (a table), or x (a figure)")
        if foreign := self.model_fields_set & (_TABLE_KEYS if self.is_figure else _FIGURE_KEYS):
            kind = "figure" if self.is_figure else "table"
            raise ValueError(f"a {kind} has no {' and no '.join(sorted(foreign))}")
        self._check_figure() if self.is_figure else self._check_table()
        self._check_numbers()
        return self

    def _check_figure(self) -> None:
        if len(self.x) != 1 or len(self.y) > 1 or bool(self.y) == bool(self.lines):
            raise ValueError("a figure has one axis x and either lines or one axis y")
        require_lengths(self.best, len(self.panels))
        if unknown := set(self.best) - set(self.lines):
            raise ValueError(f"best: no lines {sorted(unknown)}")
        ((x, points),) = self.x.items()
        for point in (point for line in self.best.values() for point in line):
            if text_of(point) not in map(text_of, points):
                raise ValueError(f"best: {point:g} is not among the points of {x}")
        for _, _, _, coordinates in self.points():
            require_given("x", coordinates.given, KINDS[SCORE].keys)

    def _check_table(self) -> None:
        if unknown := set(self.remarks) - {*self.columns, *self.rows}:
            raise ValueError(f"remarks: no row or column {sorted(unknown)}")
        rows, printed = list(self.rows), list(self.published)
        if printed and printed != rows:
            raise ValueError(
                f"published: give the rows {rows}, in this order, instead of {printed}"
            )
        require_lengths(self.published, len(self.columns))

    def _check_numbers(self) -> None:
        for number in self.numbers():
            where, kind, value = f"{number.row}, {number.column}", number.kind, number.published
            if kind == NORM:
                raise ValueError(f"{where}: norms belong in a view, not in a table")
            if kind in KINDS:
                given = number.coordinates.given - ({"over"} if kind == COST else set())
                require_given(where, given, KINDS[kind].keys)
            measure = MEASURES.get(number.coordinates.measure or "") if kind == SCORE else None
            if measure and value is not None and value > measure.largest:
                raise ValueError(
                    f"{where}: {value:g} is above {measure.largest:g}"
                    " (set scale to the number by which printed values are divided)"
                )

    @property
    def is_figure(self) -> bool:
        return bool(self.x)

    @property
    def systems_in(self) -> Literal["row", "column", ""]:
        """Whether the rows or the columns of a table name systems; "" if neither do."""
        if _name_systems(self.rows):
            return "row"
        return "column" if _name_systems(self.columns) else ""

    @property
    def has_systems(self) -> bool:
        """Whether further systems can get a row or column in a table.

        They cannot if the table has counts or a single system, or if its rows or columns give more
        than the name of a system.
        """
        keys = [coordinates.given | {"system"} for _, _, coordinates in self.cells_of("")]
        complete = [kind.keys for kind in KINDS.values()]
        return bool(self.systems_in) and all(given in complete for given in keys)

    def numbers(self) -> Iterator[Published]:
        """Yield every published number, row by row; for a figure, its best points."""
        for line, best in self.best.items():
            for panel, point in zip(self.panels, best, strict=True):
                yield Published(line, panel, self.coordinates(line, panel), point, BEST)
        for row, row_coordinates in self.rows.items():
            values = self.published.get(row, [NOT_PRINTED] * len(self.columns))
            for column, value in zip(self.columns, values, strict=True):
                coordinates = self.coordinates(row, column)
                kind = coordinates.kind
                scale = self.scale if kind == SCORE else 1
                if CITED in (row_coordinates, self.columns[column]):
                    kind = CITED
                if value == NOT_PRINTED:
                    yield Published(row, column, coordinates, None, kind)
                else:
                    number, step = round(value / scale, DIGITS), self._steps(column)[value] / scale
                    yield Published(row, column, coordinates, number, kind, step)

    def rounding(self, column: str) -> float:
        """Return half a unit in the last printed digit of a column's scores, in our unit."""
        return min(self._steps(column).values()) / 2 / self.scale

    def _steps(self, column: str) -> dict[float, float]:
        index = list(self.columns).index(column)
        printed = [values[index] for values in self.published.values()]
        values = [value for value in printed if value != NOT_PRINTED]
        return dict.fromkeys(values, self.means_of.step) if self.means_of else last_digits(values)

    def remark_on(self, row: str, column: str) -> str:
        return " ".join(self.remarks[name] for name in (row, column) if name in self.remarks)

    def cells_of(self, system: str) -> Iterator[tuple[str, str, Coordinates]]:
        """Yield the row, column and coordinates of each value that another system would have."""
        if self.systems_in == "row":
            for column in self.columns:
                if self.columns[column] != CITED:
                    yield system, column, self.coordinates(column=column)
        else:
            for row in self.rows:
                if self.rows[row] != CITED:
                    yield row, system, self.coordinates(row=row)

    def points(
        self, sweeps: dict[str, list] | None = None
    ) -> Iterator[tuple[str, str, dict[str, object], Coordinates]]:
        """Yield the panel, line, values on the axes and coordinates of every point of a figure.

        Args:
            sweeps: The points to show instead of the paper's, by the name of the axis.
        """
        axes = self.x | self.y
        points = [(sweeps or {}).get(name, printed) for name, printed in axes.items()]
        for panel, line, *values in product(
            self.panels, self.lines or {"": Coordinates()}, *points
        ):
            point = dict(zip(axes, values, strict=True))
            yield panel, line, point, self.coordinates(line, panel) | Coordinates(**point)

    def coordinates(self, row: str | None = None, column: str | None = None) -> Coordinates:
        """Return the coordinates given by a row (or line), a column (or panel), and `cells`.

        Raises ValueError when two of them give the same key.
        """
        row_part = _coordinates_at(row, {**self.rows, **self.lines})
        column_part = _coordinates_at(column, {**self.columns, **self.panels})
        try:
            return self.cells | row_part | column_part
        except ValueError as error:
            raise ValueError(f"{row}, {column}: {error}") from None


class Paper(Section):
    """A paper.yaml in papers/.

    In the file, views are listed among the artefacts; they are those with a key `view`.

    Args:
        paper: The name of the paper, that of its folder.
        citation: Authors, year, title and place.
        artefacts: The tables and figures.
        claims: What the text says about their numbers.
    """

    paper: Name
    citation: str
    artefacts: Annotated[dict[ShownName, Artefact], AfterValidator(with_means)]
    views: dict[ShownName, View] = {}
    claims: dict[Name, Claim] = Field(default={})

    @model_validator(mode="before")
    @classmethod
    def _separate_views(cls, values: object) -> object:
        if not isinstance(values, dict) or not isinstance(values.get("artefacts"), dict):
            return values
        artefacts = values["artefacts"]
        views = {
            name: section
            for name, section in artefacts.items()
            if isinstance(section, View) or (isinstance(section, dict) and "view" in section)
        }
        others = {name: section for name, section in artefacts.items() if name not in views}
        return values | {"artefacts": others} | ({"views": views} if views else {})

    @model_validator(mode="after")
    def _names_match_kinds(self) -> "Paper":
        for name, artefact in self.artefacts.items():
            if name.startswith("figure") != artefact.is_figure:
                raise ValueError(f"artefacts.{name}: a figure has an axis x, and a table has none")
        for name, view in self.views.items():
            if name.startswith("figure") != view.spec.is_figure:
                kind = "figure" if view.spec.is_figure else "table"
                raise ValueError(f"artefacts.{name}: the view {view.view} is a {kind}")
        return self

    @property
    def short_citation(self) -> str:
        """Authors and year, such as "Tay, Tuan and Hui (2018)"."""
        return re.split(r"(?<=\))\.", self.citation)[0]

    @property
    def tables_and_figures(self) -> list[str]:
        """The names of all tables and figures."""
        return [*self.artefacts, *self.views]

    def published_at(self, coordinates: Coordinates) -> float | None:
        """Return the score printed for some coordinates in the first table that has it."""
        return self._printed.get(coordinates.key)

    def competitors(self, coordinates: Coordinates) -> list[float]:
        """Return other values that tables with some coordinates print for other systems.

        They have the same data, measure and files of word vectors. Cited values count. Uncited
        values that equal the system's do not, because they are often the same system under another
        name.
        """
        values: list[float | None] = []
        for artefact in self.artefacts.values():
            scores = [number for number in artefact.numbers() if number.kind in (SCORE, CITED)]
            own = {n.published for n in scores if n.coordinates.key == coordinates.key}
            if own:
                values += [
                    number.published
                    for number in scores
                    if number.coordinates.system != coordinates.system
                    and number.coordinates.agrees_with(coordinates, CONDITIONS)
                    and (number.kind == CITED or number.published not in own)
                ]
        return [value for value in dict.fromkeys(values) if value is not None]

    @cached_property
    def _printed(self) -> dict[tuple, float]:
        printed: dict[tuple, float] = {}
        for artefact in self.artefacts.values():
            for number in artefact.numbers():
                if number.kind == SCORE and number.published is not None:
                    printed.setdefault(number.coordinates.key, number.published)
        return printed


def load_paper(path: str | Path) -> Paper:
    """Read the paper.yaml of a paper.

    Raises AnalogyQAError with one line for each wrong or unknown key.
    """
    try:
        return Paper.model_validate(read_yaml(path))
    except ValidationError as error:
        lines = [explain_error(Paper, item) for item in error.errors()]
        # In the file, views are listed among the artefacts.
        lines = [line.replace("views.", "artefacts.", 1) for line in lines]
        raise AnalogyQAError("\n".join(f"{path}: {line}" for line in lines)) from None
