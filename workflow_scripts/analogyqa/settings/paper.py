"""What a paper prints: its tables and figures, and its claims."""

from collections.abc import Iterator
from decimal import Decimal
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from pydantic import BeforeValidator, Field, ValidationError, model_validator

from analogyqa.errors import AnalogyQAError
from analogyqa.files import read_yaml
from analogyqa.measures import MEASURES
from analogyqa.settings.base import Name, Section, explain_error
from analogyqa.settings.claims import Claim
from analogyqa.settings.coordinates import COST, NEEDED, NORM, SCORE, Coordinates, require_given
from analogyqa.settings.overrides import text_of
from analogyqa.settings.views import View

CITED = "cited"  # a row of values that are shown as published and are nothing of ours
NOT_PRINTED = "-"
OWN = "own"  # a paper that is none: the data sets of the configuration
DIGITS = 10  # that a division by the scale leaves, as many as a CSV file has
BEST = "best"  # the kind of a published point of an axis
UNITS = {"K": 1e3, "M": 1e6, "s": 1, "x": 1}  # behind a printed number: thousands, seconds, times


def _in_units(printed: object) -> object:
    """Return a number for one that is printed with a unit, such as 90.0K or 12s."""
    if isinstance(printed, str) and printed[-1:] in UNITS and printed[:-1]:
        try:
            return round(float(printed[:-1]) * UNITS[printed[-1]], DIGITS)
        except ValueError:
            return printed
    return printed


Printed = Annotated[float, Field(strict=True, ge=0)]
ShownName = Annotated[str, Field(pattern=r"^(table|figure)\d+$")]


class Published(NamedTuple):
    """A number that a paper prints, in the unit of ours; None where it prints none.

    `kind` is that of our value: a score, a count, a cost, or the best point of an axis.
    """

    row: str
    column: str
    coordinates: Coordinates
    published: float | None
    kind: str


_OF_TABLES = {"columns", "rows", "published", "scale", "remarks", "top_group"}
_OF_FIGURES = {"y", "lines", "panels", "best", "stacked"}


class Artefact(Section):
    """A table or a figure of a paper: the layout, the printed values, and what they stand for.

    A table has `columns`, `rows` and `published`. A row or column may be `cited`: its values are
    nothing of ours. A printed score divided by `scale` is in the unit of ours; a printed count or
    cost may have a unit (90K, 12s).

    `remarks` are of a row or a column, and say what a reader of its values must know. With
    `top_group` a table marks, of each column, the systems that are not told from the best.

    A figure has an axis `x`, one name and its points, and either `lines` or a second axis `y`,
    which makes it a heat map. It has a panel for each of `panels`. `best` holds the point at which
    the text says that a line is highest, one for each panel. Lines that are `stacked` are shares of
    a whole, drawn as bars on each other.

    Of rows, columns, panels, lines and points, each says a part of where our value comes from, and
    `cells` what they have in common.
    """

    title: str
    cells: Coordinates = Coordinates()
    columns: dict[str, Coordinates | Literal[CITED]] = {}  # type: ignore[valid-type]
    rows: dict[str, Coordinates | Literal[CITED]] = {}  # type: ignore[valid-type]
    remarks: dict[str, str] = {}
    top_group: bool = False
    published: dict[
        str, list[Annotated[Printed | Literal[NOT_PRINTED], BeforeValidator(_in_units)]]
    ] = {}  # type: ignore[valid-type]
    scale: Annotated[float, Field(gt=0)] = 1
    x: dict[str, Annotated[list, Field(min_length=1)]] = {}
    y: dict[str, Annotated[list, Field(min_length=1)]] = {}
    lines: dict[str, Coordinates] = {}
    panels: dict[str, Coordinates] = {"": Coordinates()}
    best: dict[str, list[Annotated[float, Field(strict=True)]]] = {}
    stacked: bool = False

    @model_validator(mode="after")
    def _complete(self) -> "Artefact":
        if bool(self.x) == bool(self.columns and self.rows):
            raise ValueError("give columns and rows (a table), or x (a figure)")
        if foreign := self.model_fields_set & (_OF_TABLES if self.is_figure else _OF_FIGURES):
            kind = "figure" if self.is_figure else "table"
            raise ValueError(f"a {kind} has no {' and no '.join(sorted(foreign))}")
        if self.is_figure:
            if len(self.x) != 1 or len(self.y) > 1 or bool(self.y) == bool(self.lines):
                raise ValueError("a figure has one axis x, and either lines or one axis y")
            self._same_length("best", self.best, self.panels, list(self.best))
            if unknown := set(self.best) - set(self.lines):
                raise ValueError(f"best: no lines {sorted(unknown)}")
            ((x, points),) = self.x.items()
            for point in (point for own in self.best.values() for point in own):
                if text_of(point) not in map(text_of, points):
                    raise ValueError(f"best: {point:g} is not among the points of {x}")
            for _, _, _, coordinates in self.points():
                require_given("x", coordinates.given, SCORE)
        elif unknown := set(self.remarks) - {*self.columns, *self.rows}:
            raise ValueError(f"remarks: no row or column {sorted(unknown)}")
        elif self.published:
            self._same_length("published", self.published, self.columns, list(self.rows))
        for number in self.numbers():
            if number.kind == NORM:
                raise ValueError(f"{number.row}, {number.column}: a table has no norms, a view has")
            if number.kind in NEEDED:
                given = number.coordinates.given - ({"over"} if number.kind == COST else set())
                require_given(f"{number.row}, {number.column}", given, number.kind)
            if number.kind == SCORE and number.published is not None:
                largest = MEASURES[number.coordinates.measure].largest
                if number.published > largest:
                    raise ValueError(
                        f"{number.row}, {number.column}: {number.published:g} is above {largest:g}"
                        " (scale says by what a printed value is divided)"
                    )
        return self

    def _same_length(self, key: str, values: dict, columns: dict, rows: list[str]) -> None:
        if list(values) != rows:
            raise ValueError(f"{key} has rows {list(values)}, rows {rows}")
        for row, own in values.items():
            if len(own) != len(columns):
                raise ValueError(f"{row}: {len(own)} values for {len(columns)} columns")

    @property
    def is_figure(self) -> bool:
        return bool(self.x)

    @property
    def systems_in(self) -> Literal["row", "column", ""]:
        """Whether the rows or the columns of a table name systems, "" for none of them."""
        for kind, places in (("row", self.rows), ("column", self.columns)):
            if any(
                coordinates != CITED and coordinates.system is not None
                for coordinates in places.values()
            ):
                return kind  # type: ignore[return-value]
        return ""

    @property
    def has_systems(self) -> bool:
        """Whether further systems have a place in a table.

        Not where it counts, is about a single system, or says beside a system what is measured.
        """
        places = [coordinates.given | {"system"} for _, _, coordinates in self.cells_of("")]
        fitting = (NEEDED[SCORE], NEEDED[COST])
        return bool(self.systems_in) and all(given in fitting for given in places)

    def numbers(self) -> Iterator[Published]:
        """Yield every published number, row by row; of a figure the best points."""
        for line, values in self.best.items():
            for panel, value in zip(self.panels, values, strict=True):
                yield Published(line, panel, self.coordinates(line, panel), value, BEST)
        for row, said in self.rows.items():
            values = self.published.get(row, [NOT_PRINTED] * len(self.columns))
            for column, value in zip(self.columns, values, strict=True):
                coordinates = self.coordinates(row, column)
                kind = coordinates.kind
                scale = self.scale if kind == SCORE else 1
                number = None if value == NOT_PRINTED else round(value / scale, DIGITS)
                if CITED in (said, self.columns[column]):
                    coordinates, kind = (
                        Coordinates() if said == CITED else self.coordinates(row),
                        CITED,
                    )
                yield Published(row, column, coordinates, number, kind)

    def rounding(self, column: str) -> float:
        """Return half a unit of the last digit that the scores of a column have, in our unit."""
        place = list(self.columns).index(column)
        printed = [own[place] for own in self.published.values() if own[place] != NOT_PRINTED]
        digits = max(-int(Decimal(repr(value)).as_tuple().exponent) for value in printed)
        return 0.5 * 10.0**-digits / self.scale

    def remark_on(self, row: str, column: str) -> str:
        return " ".join(self.remarks[name] for name in (row, column) if name in self.remarks)

    def cells_of(self, system: str) -> Iterator[tuple[str, str, Coordinates]]:
        """Yield row, column and place of each cell that another system would have here."""
        if self.systems_in == "row":
            for column, said in self.columns.items():
                if said != CITED:
                    yield system, column, self.coordinates(column=column)
        else:
            for row, said in self.rows.items():
                if said != CITED:
                    yield row, system, self.coordinates(row=row)

    def points(
        self, instead: dict[str, list] | None = None
    ) -> Iterator[tuple[str, str, dict[str, object], Coordinates]]:
        """Yield panel, line, coordinates and place of every point of a figure.

        `instead` maps an override to the points to be shown instead of the paper's.
        """
        overrides = self.x | self.y
        values = [(instead or {}).get(name, points) for name, points in overrides.items()]
        for panel, line, *at in product(self.panels, self.lines or {"": Coordinates()}, *values):
            point = dict(zip(overrides, at, strict=True))
            yield panel, line, point, self.coordinates(line, panel) | Coordinates(**point)

    def coordinates(self, row: str | None = None, column: str | None = None) -> Coordinates:
        """Return what a row (line) and a column (panel), or one of them, say with `cells`.

        Raises ValueError when two of them say the same key.
        """
        said = (self.rows | self.lines).get(row), (self.columns | self.panels).get(column)
        of_row, of_column = (
            coordinates if isinstance(coordinates, Coordinates) else Coordinates()
            for coordinates in said
        )
        try:
            return self.cells | of_row | of_column
        except ValueError as error:
            raise ValueError(f"{row}, {column}: {error}") from None


class Paper(Section):
    """One paper.yaml of papers/.

    In the file the views stand among the artefacts: they are those that have a key `view`.
    """

    paper: Name
    citation: str
    artefacts: dict[ShownName, Artefact]
    views: dict[ShownName, View] = {}
    claims: dict[Name, Claim] = Field(default={})

    @model_validator(mode="before")
    @classmethod
    def _part_views(cls, values: object) -> object:
        artefacts = values.get("artefacts") if isinstance(values, dict) else None
        if not isinstance(artefacts, dict):
            return values
        views = {
            name: each
            for name, each in artefacts.items()
            if isinstance(each, View) or (isinstance(each, dict) and "view" in each)
        }
        others = {name: each for name, each in artefacts.items() if name not in views}
        return values | {"artefacts": others} | ({"views": views} if views else {})

    @model_validator(mode="after")
    def _named_for_what_they_are(self) -> "Paper":
        for name, artefact in self.artefacts.items():
            if name.startswith("figure") != artefact.is_figure:
                raise ValueError(f"artefacts.{name}: a figure has an axis x, a table has none")
        for name, view in self.views.items():
            if name.startswith("figure") != view.is_figure:
                kind = "figure" if view.is_figure else "table"
                raise ValueError(f"artefacts.{name}: the view {view.view} is a {kind}")
        return self

    @property
    def shown(self) -> list[str]:
        """The names of all tables and figures."""
        return [*self.artefacts, *self.views]

    def published_at(self, coordinates: Coordinates) -> float | None:
        """Return the score that the first table which has it prints for a place."""
        return self._printed.get(coordinates.key)

    @cached_property
    def compared(self) -> list[tuple[Coordinates, Coordinates]]:
        """Of all claims what is called better, and than what."""
        return [pair for claim in self.claims.values() for pair in claim.sides()]

    @cached_property
    def _printed(self) -> dict[tuple, float]:
        found: dict[tuple, float] = {}
        for artefact in self.artefacts.values():
            for number in artefact.numbers():
                if number.kind == SCORE and number.published is not None:
                    found.setdefault(number.coordinates.key, number.published)
        return found


def load_paper(path: str | Path) -> Paper:
    """Read the published values of one paper.

    Raises AnalogyQAError, one line for each wrong or unknown key, with the key.
    """
    try:
        return Paper.model_validate(read_yaml(path))
    except ValidationError as error:
        explained = [explain_error(Paper, item) for item in error.errors()]
        # Where they stand in the file.
        explained = [each.replace("views.", "artefacts.", 1) for each in explained]
        raise AnalogyQAError("\n".join(f"{path}: {each}" for each in explained)) from None
