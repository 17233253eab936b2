"""The tables and figures of a paper: their layout and their published numbers."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from functools import reduce
from itertools import product
from operator import or_
from statistics import fmean, multimode
from typing import Annotated, Literal, NamedTuple

from pydantic import Field, model_validator

from analogyqa.measures import MEASURES
from analogyqa.report.views.specs import VIEWS, ViewSpec
from analogyqa.settings.base import Lenient, OneOf, Section
from analogyqa.settings.coordinates import COST, KINDS, NORM, SCORE, Coordinates, require_given
from analogyqa.settings.overrides import as_text

NotPrinted = Literal["-"]
NOT_PRINTED: NotPrinted = "-"
DIGITS = 10  # decimal places of a printed value after scaling, as in our CSV files
UNITS = {"K": 1e3, "M": 1e6, "s": 1, "x": 1}  # after a printed number: seconds, times
MEAN_DIGITS = 3  # decimal places of a mean of printed values


def _in_units(printed: object) -> object:
    """Return the number in a printed string with a unit, such as 90.0K or 12s."""
    if isinstance(printed, str) and printed[-1:] in UNITS:
        with suppress(ValueError):
            return round(float(printed[:-1]) * UNITS[printed[-1]], DIGITS)
    return printed


Printed = Annotated[float, Field(strict=True, ge=0)]
PrintedRow = list[Annotated[Printed | NotPrinted, Lenient(_in_units, types=("string",))]]
ShownName = Annotated[str, Field(pattern=r"^(table|figure)\d+$")]


class MeansOf(Section):
    """The tables whose means a table shows, if the paper does not print its values."""

    tables: dict[str, ShownName]
    """The table whose rows a column has the means of."""
    weights: tuple[ShownName, str]
    """The table and the column of counts that weight the subsets of these tables."""
    step: Annotated[float, Field(gt=0)]
    """The unit of the last digit of the values that the means are of."""


def require_lengths(rows: Mapping[str, Sequence], columns: int) -> None:
    """Raise ValueError, which names the row, unless each row has a value for each column."""
    for row, values in rows.items():
        if len(values) != columns:
            raise ValueError(f"{row}: {len(values)} values for {columns} columns")


def last_digits(printed: Collection[float]) -> dict[float, float]:
    """Return the unit of the last digit of each value of a column.

    YAML drops trailing zeros, so a value has at least the digits of most others.
    """
    units = {value: 10.0 ** int(Decimal(repr(value)).as_tuple().exponent) for value in printed}
    usual = max(multimode(units[value] for value in printed), default=1.0)
    return {value: min(unit, usual) for value, unit in units.items()}


def with_means(artefacts: Mapping[str, "Artefact"]) -> dict[str, "Artefact"]:
    """Return the tables and figures of a paper, with the values of those that are `means_of`.

    Raises ValueError when a table or a printed value is missing.
    """
    return dict(artefacts) | {
        name: artefact.model_copy(update={"published": _means(name, artefact, artefacts)})
        for name, artefact in artefacts.items()
        if artefact.means_of
    }


def _means(
    name: str, artefact: "Artefact", artefacts: Mapping[str, "Artefact"]
) -> dict[str, list[float]]:
    assert artefact.means_of
    tables, (table, column) = artefact.means_of.tables, artefact.means_of.weights

    def mean(row: str, shown: str) -> float:
        values, weights = [], []
        for number in artefacts[tables[shown]].numbers():
            if number.row == row:
                value, count = number.published, counts[number.coordinates.subset]
                if value is None or count is None:
                    raise LookupError(f"{number.row}, {number.column}")
                values.append(value)
                weights.append(count)
        return round(fmean(values, weights), MEAN_DIGITS)

    try:
        weighting = [number for number in artefacts[table].numbers() if number.column == column]
        counts = {number.coordinates.subset: number.published for number in weighting}
        return {row: [mean(row, shown) for shown in artefact.columns] for row in artefact.rows}
    except LookupError as error:
        raise ValueError(f"{name}.means_of: no printed value of {error}") from None


Cited = Literal["cited"]
CITED: Cited = "cited"  # a row or column of published values that have no counterpart of ours
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


_TABLE_KEYS = {"columns", "rows", "published", "means_of", "scale", "remarks", "not_run"}
_TABLE_KEYS |= {"top_group", "only"}
_FIGURE_KEYS = {"y", "lines", "panels", "best", "stacked", "references"}


class Artefact(Section):
    """A table or figure of a paper: its layout, its printed values, and their coordinates.

    A table has columns and rows; a figure an axis x, and either lines or, as a heat map, an axis y.
    """

    title: str
    """The caption."""
    cells: Coordinates = Coordinates()
    """The coordinates that all values share."""
    columns: dict[str, Coordinates | Cited] = {}
    """The coordinates of each column of a table; `cited` for values without counterpart of ours."""
    rows: dict[str, Coordinates | Cited] = {}
    """The coordinates of each row, given like `columns`."""
    only: dict[str, str] = {}
    """The one column in which a row has a value, by row; the row has all coordinates itself."""
    remarks: dict[str, str] = {}
    """What a reader must know about the values of a row or column, by its name."""
    not_run: dict[str, str] = {}
    """Why the numbers of a row are not run, by its name."""
    top_group: bool = False
    """Whether each column marks the systems not significantly different from its best."""
    published: dict[str, PrintedRow] = {}
    """The printed values of each row. Counts and costs may have a unit (90K, 12s)."""
    means_of: MeansOf | None = None
    """The tables that published values follow from, if they are not given."""
    scale: Annotated[float, Field(gt=0)] = 1
    """The number by which printed scores are divided to be in the same unit as ours."""
    x: dict[str, Annotated[list, Field(min_length=1)]] = {}
    """The name of an override or coordinate, and its points."""
    y: dict[str, Annotated[list, Field(min_length=1)]] = {}
    """The second axis, given like `x`."""
    lines: dict[str, Coordinates] = {}
    """The coordinates of each line of a figure."""
    panels: dict[str, Coordinates] = {"": Coordinates()}
    """The coordinates of each panel of a figure."""
    best: dict[str, list[Annotated[float, Field(strict=True)]]] = {}
    """The points at which the text says that a line is highest, one for each panel."""
    references: dict[str, float] = {}
    """Printed values of other systems, drawn as horizontal lines."""
    stacked: bool = False
    """Whether lines are shares of a whole, which are drawn as stacked bars."""

    @model_validator(mode="after")
    def _check_layout(self) -> "Artefact":
        if bool(self.x) == bool(self.columns and self.rows):
            raise ValueError("give columns and rows (a table), or x (a figure)")
        if self.is_figure:
            self.refuse(_TABLE_KEYS, "a figure")
            self._check_figure()
        else:
            self.refuse(_FIGURE_KEYS, "a table")
            self._check_table()
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
            if as_text(point) not in map(as_text, points):
                raise ValueError(f"best: {point:g} is not among the points of {x}")
        for _, _, _, coordinates in self.points():
            require_given("x", coordinates.given, KINDS[SCORE].keys)

    def _check_table(self) -> None:
        if unknown := set(self.remarks) - {*self.columns, *self.rows}:
            raise ValueError(f"remarks: no row or column {sorted(unknown)}")
        if unknown := {*self.not_run} - {*self.rows}:
            raise ValueError(f"not_run: no row {sorted(unknown)}")
        if unknown := {*self.only} - {*self.rows} | {*self.only.values()} - {*self.columns}:
            raise ValueError(f"only: no row or column {sorted(unknown)}")
        rows, given = list(self.rows), list(self.published)
        if given and given != rows:
            raise ValueError(f"published: give the rows {rows}, in this order, instead of {given}")
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
                limit = f"{where}: {value:g} is above {measure.largest:g}"
                raise ValueError(f"{limit} (set scale to what printed values are divided by)")

    @property
    def is_figure(self) -> bool:
        return bool(self.x)

    @property
    def systems_in(self) -> Literal["row", "column", ""]:
        """Whether the rows or the columns of a table name systems; "" if neither do."""
        if any(getattr(row, "system", "") for row in self.rows.values()):
            return "row"
        return "column" if any(getattr(at, "system", "") for at in self.columns.values()) else ""

    @property
    def has_systems(self) -> bool:
        """Whether further systems can get a row or column, as they need only a name there."""
        keys = [coordinates.given | {"system"} for _, _, coordinates in self.system_cells("")]
        complete = [kind.keys for kind in KINDS.values()]
        return bool(self.systems_in) and all(given in complete for given in keys)

    def numbers(self) -> Iterator[Published]:
        """Yield every published number, row by row; for a figure, its best points."""
        for line, best in self.best.items():
            for panel, point in zip(self.panels, best, strict=True):
                yield Published(line, panel, self.coordinates(line, panel), point, BEST)
        for row, column in product(self.rows, self.columns):
            if self.only.get(row, column) != column:
                continue
            coordinates = self.coordinates(row, column)
            value = self._printed(row, column)
            scale = self.scale if coordinates.kind == SCORE else 1
            kind = CITED if CITED in (self.rows[row], self.columns[column]) else coordinates.kind
            if value == NOT_PRINTED:
                yield Published(row, column, coordinates, None, kind)
            else:
                number, step = round(value / scale, DIGITS), self._steps(column)[value] / scale
                yield Published(row, column, coordinates, number, kind, step)

    def rounding(self, column: str) -> float:
        """Return half a unit in the last printed digit of a column's scores, in our unit."""
        return min(self._steps(column).values()) / 2 / self.scale

    def _printed(self, row: str, column: str) -> float | NotPrinted:
        values = self.published.get(row)
        return values[list(self.columns).index(column)] if values else NOT_PRINTED

    def _steps(self, column: str) -> dict[float, float]:
        printed = [self._printed(row, column) for row in self.rows]
        values = [value for value in printed if value != NOT_PRINTED]
        return dict.fromkeys(values, self.means_of.step) if self.means_of else last_digits(values)

    def remark_on(self, row: str, column: str) -> str:
        return " ".join(self.remarks[name] for name in (row, column) if name in self.remarks)

    def system_cells(self, system: str) -> Iterator[tuple[str, str, Coordinates]]:
        """Yield the row, column and coordinates of each value that another system would have."""
        if self.systems_in == "row":
            columns = (column for column, at in self.columns.items() if at != CITED)
            yield from ((system, column, self.coordinates(None, column)) for column in columns)
        else:
            rows = (row for row, at in self.rows.items() if at != CITED)
            yield from ((row, system, self.coordinates(row)) for row in rows)

    def points(
        self, sweeps: dict[str, list] | None = None
    ) -> Iterator[tuple[str, str, dict[str, object], Coordinates]]:
        """Yield the panel, line, values on the axes and coordinates of every point of a figure.

        `sweeps` are the points to show instead of the paper's, by the name of the axis.
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
        row_part = {**self.rows, **self.lines}.get(row or "")
        column_part = {**self.columns, **self.panels}.get(column or "")
        column_part = None if row in self.only else column_part
        given = (part for part in (row_part, column_part) if isinstance(part, Coordinates))
        try:
            return reduce(or_, given, self.cells)
        except ValueError as error:
            raise ValueError(f"{row}, {column}: {error}") from None


_OF_CELL = {"system", "dataset", "subset"}


class Example(Section):
    """A question and an answer whose words a paper shows at each level of norm."""

    panel: str
    """The panel whose encoder is read."""
    find: str = Field(min_length=1)
    """Words of the question; the first test question with all of them is taken."""
    question: list[str] = Field(min_length=1)
    """The printed words of the question at each level."""
    answer: list[str] = Field(min_length=1)
    """The printed words of the answer at each level."""

    @model_validator(mode="after")
    def _same_levels(self) -> "Example":
        if len(self.question) != len(self.answer):
            levels = f"the question has {len(self.question)} levels, the answer {len(self.answer)}"
            raise ValueError(levels)
        return self


class Quote(Section):
    """A question and an answer that a paper prints; [...] stands for words that it leaves out."""

    example: str
    """The example that it is a part of."""
    question: str = Field(min_length=1)
    """The printed question."""
    answer: str = Field(min_length=1)
    """The printed answer."""


class View(Section):
    """A table or figure that is made of vectors, prototypes or texts instead of scores."""

    title: str
    """The caption."""
    view: Annotated[str, OneOf(VIEWS)]
    """A key of `VIEWS`."""
    cells: Coordinates = Coordinates()
    """The coordinates that all panels share."""
    panels: dict[str, Coordinates] = Field(min_length=1, max_length=2)
    """The system, data set and subset of each panel; for a view of corpora, the data set."""
    levels: dict[str, str] = {}
    """The words that the paper prints at each level of norm, for views that read them."""
    examples: list[Example] = []
    """The questions that the paper prints, for views that read them."""
    quotes: list[Quote] = []
    """The questions and answers that the paper prints, for views that read them."""

    @model_validator(mode="after")
    def _check_contents(self) -> "View":
        options = {"levels", "examples", "quotes"} - {*self.spec.options}
        self.refuse(options, f"the view {self.view}")
        for name in ("examples", "quotes"):
            if name in self.spec.options and not getattr(self, name):
                raise ValueError(f"the view {self.view} needs {name}")
        needed = {"dataset"} if self.spec.reads == "corpus" else _OF_CELL
        for panel, coordinates in self.coordinates().items():
            require_given(panel, coordinates.given, needed)
        for example in self.examples:
            if example.panel not in self.panels:
                known = list(self.panels)
                raise ValueError(f"examples: {example.panel!r} is not one of the panels {known}")
            if len(example.question) != len(self.examples[0].question):
                raise ValueError("examples: all must have the same number of levels")
        return self

    @property
    def spec(self) -> ViewSpec:
        return VIEWS[self.view]

    def coordinates(self) -> dict[str, Coordinates]:
        """Return the coordinates of each panel; raises ValueError when a key is given twice."""
        return {panel: self.cells | coordinates for panel, coordinates in self.panels.items()}
