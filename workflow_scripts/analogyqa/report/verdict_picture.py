"""The picture of all verdicts on a paper: a grid for each of its tables, with the names of both.

Scores are drawn as they are; counts, costs and best points as ours divided by the published one.
"""

import math
import textwrap
from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from analogyqa.evaluation.published import ledger_key
from analogyqa.evaluation.verdicts import (
    ENFORCED,
    HIGHER,
    INCONCLUSIVE,
    LOOKS,
    LOWER,
    NOT_COMPARABLE,
    NOT_LEARNED,
    NOT_RUN,
    REPRODUCED,
)
from analogyqa.measures import MEASURES
from analogyqa.report.html_pages import render
from analogyqa.report.outcomes import KIND_NOUNS, published_once
from analogyqa.report.table_formats import three_decimals
from analogyqa.report.tables import printed_name
from analogyqa.settings.coordinates import SCORE
from analogyqa.settings.paper import Paper

# Lengths are in pixels.
WIDTH, NAMES, RIGHT = 600, 168, 8  # of the picture, of the names of rows, right of the columns
LEAST, MOST, GAP = 38, 180, 24  # the width of a column, and between columns
LINE, ROW, AXIS = 13, 17, 30  # the height of a line of text, of a row, of an axis with what follows
LETTER = 6.2  # the width of a letter
LETTERS = int(NAMES / LETTER)  # of a name of a row
TIMES = 8  # the largest ratio that is drawn
RATIOS = {1 / TIMES: f"÷{TIMES}", 1: "1", TIMES: f"×{TIMES}"}  # the lines of the grid
# The outlines of our marks: they differ without their colours, too.
SHAPES = {
    REPRODUCED: "M-3.6 0a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0-7.2 0z",
    HIGHER: "M0-4.6L4.4 3.4H-4.4z",
    LOWER: "M0 4.6L4.4-3.4H-4.4z",
    INCONCLUSIVE: "M0-4.2L4.2 0L0 4.2L-4.2 0z",
    NOT_LEARNED: "M-3-3L3 3M3-3L-3 3",
    NOT_COMPARABLE: "M0-4V4M-4 0H4",
    NOT_RUN: "",
}


def verdict_svg(
    paper: Paper, ledger: pd.DataFrame, on_page: Mapping[tuple, str] | None = None
) -> str:
    """Return the picture as SVG, "" if the paper has no published numbers.

    It has the rows and columns of tables in which we have a value. Numbers that the pipeline
    enforces are left out, as their agreement is no evidence.

    Args:
        ledger: The verdicts, columns LEDGER.
        on_page: The ids of the numbers on the page that the picture is a part of, by `ledger_key`;
            None for a standalone file, which includes its own style.
    """
    once = published_once(ledger, paper)
    if once.empty:
        return ""
    compared = once[once["verdict"].ne(ENFORCED)]
    grids, y = [], 0
    for artefact, part in compared.groupby("artefact", sort=False):
        # Nothing can be divided by 0.
        part = part[part["kind"].eq(SCORE) | part["published"].ne(0)]
        for name in ("row", "column"):
            part = part[part.groupby(name)["mean"].transform("count") > 0]
        for grid in [] if part.empty else _grids(str(artefact), part, on_page or {}):
            grids.append(grid | {"y": y})
            y += grid["height"]
    counts = compared["verdict"].value_counts()
    texts = {"published": "published"}
    texts |= {name: f"{name} ({counts[name]})" for name in LOOKS if name in counts}
    legend, x = [], 0.0
    for verdict, text in texts.items():
        width = 22 + LETTER * len(text)
        if x + width > WIDTH:
            x, y = 0, y + ROW
        legend.append({"x": x, "y": y, "verdict": verdict, "text": text})
        x += width
    return render(
        "verdicts.svg",
        is_file=on_page is None,
        title=f"The published numbers of {paper.short_citation} and ours",
        grids=grids,
        legend=legend,
        shapes=SHAPES,
        size=(WIDTH, y + ROW),
        row_height=ROW,
    )


def _grids(artefact: str, part: pd.DataFrame, on_page: Mapping[tuple, str]) -> Iterator[dict]:
    """Yield the grids of a table or figure: one, or several if it has too many columns."""
    names, columns = list(part["row"].unique()), list(part["column"].unique())
    space = WIDTH - NAMES - RIGHT + GAP
    scores = part[part["kind"] == SCORE]
    values = scores[["published", "mean", "run_low", "run_high"]].stack()
    low, high = (values.min(), values.max()) if len(values) else (0, 1)
    # Rounded outwards to tenths.
    low = min(max(math.floor(low * 10) / 10, 0), 0.9)
    high = max(math.ceil(high * 10) / 10, low + 0.1)
    for shown in np.array_split(columns, math.ceil(len(columns) * (LEAST + GAP) / space)):
        width = min(MOST, space // len(shown) - GAP)
        letters = int((width + GAP / 2) / LETTER)
        heads = [textwrap.wrap(column, letters, break_long_words=False) for column in shown]
        top = LINE * (1 + max(map(len, heads))) + 6
        yield {
            "title": _title(artefact, part),
            "names": [textwrap.shorten(name, LETTERS, placeholder=" …") for name in names],
            "top": top,
            "width": width,
            "height": top + ROW * len(names) + AXIS,
            "columns": [
                {
                    "x": NAMES + place * (width + GAP),
                    "head": head,
                    **_column(part[part["column"] == column], names, width, (low, high), on_page),
                }
                for place, (column, head) in enumerate(zip(shown, heads, strict=True))
            ],
        }


def _title(artefact: str, part: pd.DataFrame) -> str:
    """Return the name of a table or figure with its measures."""
    measures = dict.fromkeys(part.loc[part["kind"] == SCORE, "measure"])
    texts = [", ".join(dict.fromkeys(MEASURES[measure].short for measure in measures))]
    others = [KIND_NOUNS[kind] for kind in part["kind"].unique() if kind != SCORE]
    texts += [f"{' and '.join(others)}, ours divided by the published value" if others else ""]
    return f"{printed_name(artefact)}: {'; '.join(filter(None, texts))}"


def _column(
    part: pd.DataFrame,
    names: list[str],
    width: float,
    ends: tuple[float, float],
    on_page: Mapping[tuple, str],
) -> dict:
    """Return the `marks` of a column, with its `lines` and their labels.

    A mark has its places from the left, that of its row, its text, and its id on the page. `ends`
    are those of the axis of scores.
    """
    is_score = part["kind"].eq(SCORE).all()
    low, high = ends if is_score else (-math.log(TIMES), math.log(TIMES))

    def place(value: float, unit: float) -> float | None:
        if pd.isna(value):
            return None
        at = value if is_score else math.log(max(value / unit, 1 / TIMES))
        return round(width * (min(max(at, low), high) - low) / (high - low), 1)

    labels = {end: f"{end:g}".lstrip("0") or "0" for end in ends} if is_score else RATIOS
    marks = []
    for row in part.to_dict("records"):
        form = three_decimals if is_score else "{:g}".format
        ours = "" if pd.isna(row["mean"]) else f"ours {form(row['mean'])}, "
        published = f"published {form(row['published'])}: {row['verdict']}"
        keys = {"ours": "mean", "low": "run_low", "high": "run_high", "published": "published"}
        marks.append(
            {key: place(row[name], row["published"]) for key, name in keys.items()}
            | {
                "row": names.index(row["row"]),
                "verdict": row["verdict"],
                "text": f"{row['row']}, {row['column']}: {ours}{published}",
                "number": on_page.get(ledger_key(row), ""),
            }
        )
    return {"marks": marks, "lines": [(place(end, 1), label) for end, label in labels.items()]}
