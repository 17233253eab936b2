"""The verdicts on a paper as a picture: every published number, and ours next to it.

Scores are drawn as they are; counts, costs and best points as ours divided by the published one.
"""

import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import pandas as pd

from analogyqa.evaluation.published import ledger_key
from analogyqa.evaluation.verdicts import LOOKS
from analogyqa.report.html_pages import render
from analogyqa.report.outcomes import published_once
from analogyqa.report.table_formats import three_decimals
from analogyqa.report.table_notes import printed_name
from analogyqa.settings.coordinates import SCORE
from analogyqa.settings.paper import Paper

# Lengths are in pixels.
WIDTH, LEFT, HEIGHT = 960, 40, 110  # of the picture, of the labels of the axis, of a panel
SLOT, GAP, HEAD = 9, 22, 22  # the width of a number, between panels, above a panel
MOST = (WIDTH - LEFT) // SLOT  # numbers of a panel
TIMES = 8  # the largest ratio that is drawn


class Mark(NamedTuple):
    """A number: its place from the left, heights of the published value and ours, and a text.

    Heights are None without a value or an interval. `number` is its id on the page, "" for none.
    """

    x: float
    published: float | None
    ours: float | None
    low: float | None
    high: float | None
    verdict: str
    text: str
    number: str


class Panel(NamedTuple):
    """The numbers of a table or figure, in the order of the paper."""

    title: str
    x: float
    y: float
    width: float
    marks: list[Mark]
    lines: list[tuple[float, str]]  # the height and the label of each line of the grid


class Axis(NamedTuple):
    """Turns values between two ends into heights, on a logarithmic scale for ratios."""

    low: float
    high: float
    is_ratio: bool

    def height(self, value: float | None) -> float | None:
        if value is None or pd.isna(value):
            return None
        low, high, value = (
            map(math.log, (self.low, self.high, max(value, self.low)))
            if self.is_ratio
            else (self.low, self.high, value)
        )
        share = (min(max(value, low), high) - low) / (high - low)
        return round(HEIGHT * (1 - share), 1)

    @property
    def lines(self) -> list[tuple[float, str]]:
        if self.is_ratio:
            values = {1 / TIMES: f"÷{TIMES}", 1: "1", TIMES: f"×{TIMES}"}
        else:
            tenths = range(math.ceil(self.low * 10), math.floor(self.high * 10) + 1)
            values = {tenth / 10: f"{tenth / 10:g}".lstrip("0") or "0" for tenth in tenths[::2]}
        return [(self.height(value) or 0, label) for value, label in values.items()]


def verdict_svg(
    paper: Paper, ledger: pd.DataFrame, on_page: Mapping[tuple, str] | None = None
) -> str:
    """Return the picture as SVG, "" if the paper has no published numbers.

    Args:
        ledger: The verdicts, columns LEDGER.
        on_page: The ids of the numbers on the page that the picture is a part of, by `ledger_key`;
            None for a standalone file, which includes its own colours.
    """
    once = published_once(ledger, paper)
    if once.empty:
        return ""
    panels = list(_panels(once, on_page or {}))
    occurring = [name for name in LOOKS if once["verdict"].eq(name).any()]
    return render(
        "verdicts.svg",
        is_file=on_page is None,
        title=f"The published numbers of {paper.short_citation} and ours",
        verdicts=[(name, LOOKS[name].mark) for name in occurring],
        panels=panels,
        size=(WIDTH, panels[-1].y + HEIGHT + 34),
    )


def _panels(once: pd.DataFrame, on_page: Mapping[tuple, str]) -> Iterator[Panel]:
    """Yield the panels from left to right, in as many lines as they need."""
    scores = once[once["kind"] == SCORE]
    values = scores[["published", "mean", "run_low", "run_high"]].stack()
    low, high = (values.min(), values.max()) if len(values) else (0, 1)
    # Rounded outwards to the lines of the grid.
    low = min(max(math.floor(low * 10) / 10, 0), 0.9)
    high = max(math.ceil(high * 10) / 10, low + 0.1)
    axes = {True: Axis(low, high, False), False: Axis(1 / TIMES, TIMES, True)}
    x, y = 0, HEAD
    labelled = None  # the axis that the panels to the left share
    for is_score in (True, False):
        rows_of_kind = once[once["kind"].eq(SCORE) == is_score]
        for artefact, part in rows_of_kind.groupby("artefact", sort=False):
            for start in range(0, len(part), MOST):
                rows, title = part.iloc[start : start + MOST], printed_name(str(artefact))
                width = max(len(rows) * SLOT, 7 * len(title))
                if x and x + LEFT + width > WIDTH:
                    x, y, labelled = 0, y + HEIGHT + GAP + HEAD, None
                if labelled != is_score:
                    x, labelled = x + LEFT, is_score
                    lines = axes[is_score].lines
                else:
                    lines = [(height, "") for height, _ in axes[is_score].lines]
                yield Panel(title, x, y, width, list(_marks(rows, axes[is_score], on_page)), lines)
                x += width + GAP


def _marks(rows: pd.DataFrame, axis: Axis, on_page: Mapping[tuple, str]) -> Iterator[Mark]:
    for place, row in enumerate(rows.to_dict("records")):
        unit = row["published"] if axis.is_ratio else 1
        if unit:
            yield Mark(
                x=(place + 0.5) * SLOT,
                published=axis.height(row["published"] / unit),
                ours=axis.height(row["mean"] / unit),
                low=axis.height(row["run_low"] / unit),
                high=axis.height(row["run_high"] / unit),
                verdict=row["verdict"],
                text=_text(row),
                number=on_page.get(ledger_key(row), ""),
            )


def _text(row: dict) -> str:
    form = three_decimals if row["kind"] == SCORE else "{:g}".format
    ours = "" if pd.isna(row["mean"]) else f"ours {form(row['mean'])}, "
    return (
        f"{row['row']}, {row['column']}: {ours}published {form(row['published'])}: {row['verdict']}"
    )
