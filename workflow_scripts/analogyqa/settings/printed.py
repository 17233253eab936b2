"""Printed values: their units and digits, and those that follow from others."""

from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal
from statistics import fmean, multimode
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from analogyqa.settings.base import Lenient, Section

if TYPE_CHECKING:
    from analogyqa.settings.paper import Artefact

NotPrinted = Literal["-"]
NOT_PRINTED: NotPrinted = "-"
DIGITS = 10  # decimal places of a printed value after scaling, as in our CSV files
UNITS = {"K": 1e3, "M": 1e6, "s": 1, "x": 1}  # after a printed number: seconds, times
MEAN_DIGITS = 3  # decimal places of a mean of printed values


def _in_units(printed: object) -> object:
    """Return the number in a printed string with a unit, such as 90.0K or 12s."""
    if isinstance(printed, str) and printed[-1:] in UNITS and printed[:-1]:
        try:
            return round(float(printed[:-1]) * UNITS[printed[-1]], DIGITS)
        except ValueError:
            return printed
    return printed


Printed = Annotated[float, Field(strict=True, ge=0)]
PrintedRow = list[Annotated[Printed | NotPrinted, Lenient(_in_units, types=("string",))]]
ShownName = Annotated[str, Field(pattern=r"^(table|figure)\d+$")]


class MeansOf(Section):
    """The tables whose means a table shows, if the paper does not print its values.

    Args:
        tables: The table whose rows a column has the means of.
        weights: The table and the column of counts that weight the subsets of these tables.
        step: The unit of the last digit of the values that the means are of.
    """

    tables: dict[str, ShownName]
    weights: tuple[ShownName, str]
    step: Annotated[float, Field(gt=0)]


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
    return {
        name: artefact.model_copy(update={"published": _means(name, artefact, artefacts)})
        if artefact.means_of
        else artefact
        for name, artefact in artefacts.items()
    }


def _means(
    name: str, artefact: "Artefact", artefacts: Mapping[str, "Artefact"]
) -> dict[str, list[float]]:
    means = artefact.means_of
    assert means
    columns = []
    try:
        table, column = means.weights
        counts = {
            number.coordinates.subset: number.published
            for number in artefacts[table].numbers()
            if number.column == column
        }
        for shown in artefact.columns:
            values: dict[str, list[float]] = {row: [] for row in artefact.rows}
            weights: dict[str, list[float]] = {row: [] for row in artefact.rows}
            for number in artefacts[means.tables[shown]].numbers():
                value, count = number.published, counts[number.coordinates.subset]
                if value is None or count is None:
                    raise LookupError(f"{number.row}, {number.column}")
                values[number.row].append(value)
                weights[number.row].append(count)
            columns.append(
                [round(fmean(values[row], weights[row]), MEAN_DIGITS) for row in artefact.rows]
            )
    except LookupError as error:
        raise ValueError(f"{name}.means_of: no printed value of {error}") from None
    return dict(zip(artefact.rows, map(list, zip(*columns, strict=True)), strict=True))
