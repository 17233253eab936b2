"""The picture of the verdicts on a paper: its published scores beside ours, with the diagonal."""

from collections.abc import Mapping

import pandas as pd
from matplotlib.ticker import MaxNLocator

from analogyqa.evaluation.published import ledger_key
from analogyqa.evaluation.verdicts import (
    HIGHER,
    INCONCLUSIVE,
    LOWER,
    NOT_LEARNED,
    REPRODUCED,
)
from analogyqa.report.html_pages import render
from analogyqa.report.outcomes import published_once
from analogyqa.report.table_formats import value_text
from analogyqa.report.tables import printed_name
from analogyqa.settings.coordinates import SCORE
from analogyqa.settings.paper import Paper

STEPS = [1, 2, 5, 10]  # between the ticks of an axis, but for the power of ten
# Lengths are in pixels.
SIDE, LEFT, TOP, AXIS = 270, 42, 10, 40  # of the square, left of it, above it, below it
WIDTH, LINE, LETTER = 324, 17, 6.2  # of the picture, of a line of the legend, of a letter
# The outlines of the marks: they differ without their colours, too. The first are drawn first.
SHAPES = {
    INCONCLUSIVE: "M0-4.2L4.2 0L0 4.2L-4.2 0z",
    NOT_LEARNED: "M-3-3L3 3M3-3L-3 3",
    REPRODUCED: "M-3.6 0a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0-7.2 0z",
    HIGHER: "M0-4.6L4.4 3.4H-4.4z",
    LOWER: "M0 4.6L4.4-3.4H-4.4z",
}


def verdict_svg(
    paper: Paper, ledger: pd.DataFrame, on_page: Mapping[tuple, str] | None = None
) -> str:
    """Return the picture as SVG. If no score has a verdict, a file has no marks, and a page "".

    Args:
        ledger: The verdicts, columns LEDGER.
        on_page: The ids of the numbers on the page that the picture is a part of, by `ledger_key`;
            None for a standalone file, which includes its own style.
    """
    once = published_once(ledger, paper)
    scores = once[once["kind"].eq(SCORE) & once["verdict"].isin(list(SHAPES))]
    if scores.empty and on_page is not None:
        return ""
    values = scores[["published", "mean"]].stack()
    ends = (values.min(), values.max()) if len(values) else (0, 1)
    ticks = MaxNLocator(5, steps=STEPS).tick_values(*ends)
    low, high = ticks[0], ticks[-1]

    def place(value: float) -> float:
        return round(SIDE * (value - low) / (high - low), 1)

    marks = [
        {
            "x": place(row["published"]),
            "y": place(row["mean"]),
            "verdict": row["verdict"],
            "text": _name(row),
            "number": (on_page or {}).get(ledger_key(row), ""),
        }
        for verdict in SHAPES
        for row in scores[scores["verdict"].eq(verdict)].to_dict("records")
    ]
    counts = scores["verdict"].value_counts()
    legend, x, y = [], 0.0, TOP + SIDE + AXIS
    for verdict in reversed(SHAPES):
        text = f"{verdict} ({counts.get(verdict, 0)})"
        width = 22 + LETTER * len(text)
        if x + width > WIDTH:
            x, y = 0, y + LINE
        if verdict in counts:
            legend.append({"x": round(x, 1), "y": y, "verdict": verdict, "text": text})
            x += width
    return render(
        "verdicts.svg",
        is_file=on_page is None,
        title=f"The published scores of {paper.short_citation} and ours",
        ticks=[(place(tick), f"{round(tick, 9):g}".removeprefix("0") or "0") for tick in ticks],
        marks=marks,
        legend=legend,
        shapes=SHAPES,
        side=SIDE,
        corner=(LEFT, TOP),
        size=(WIDTH, y + LINE),
    )


def _name(row: dict) -> str:
    """Return what a mark shows: its place in the paper, our value and the published one."""
    ours = value_text(row)
    return (
        f"{printed_name(row['artefact'])}, {row['row']}, {row['column']}: ours "
        f"{' '.join(filter(None, ours[:2]))}, published {ours.published.strip('()')}: "
        f"{row['verdict']}"
    )
