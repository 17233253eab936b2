"""The verdicts on a paper as a picture: every published number, and ours next to it.

Scores are drawn as they are; counts, costs and best points as ours divided by the published one.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from functools import partial

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
RATIOS = {1 / TIMES: f"÷{TIMES}", 1: "1", TIMES: f"×{TIMES}"}  # the lines of the grid


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
        size=(WIDTH, panels[-1]["y"] + HEIGHT + 34),
    )


def _panels(once: pd.DataFrame, on_page: Mapping[tuple, str]) -> Iterator[dict]:
    """Yield the panels from left to right, in as many lines as they need.

    A panel has the numbers of a table or figure, its `marks`, and the `lines` of its grid, each
    with its height and its label.
    """
    scores = once[once["kind"] == SCORE]
    values = scores[["published", "mean", "run_low", "run_high"]].stack()
    low, high = (values.min(), values.max()) if len(values) else (0, 1)
    # Rounded outwards to the lines of the grid.
    low = min(max(math.floor(low * 10) / 10, 0), 0.9)
    high = max(math.ceil(high * 10) / 10, low + 0.1)
    tenths = range(math.ceil(low * 10), math.floor(high * 10) + 1)[::2]
    grid = {tenth / 10: f"{tenth / 10:g}".lstrip("0") or "0" for tenth in tenths}

    score_height = partial(_height, low=low, high=high)
    x, y = 0, HEAD
    labelled = None  # the axis that the panels to the left share
    for is_score, height, labels in ((True, score_height, grid), (False, _ratio_height, RATIOS)):
        rows_of_kind = once[once["kind"].eq(SCORE) == is_score]
        for artefact, part in rows_of_kind.groupby("artefact", sort=False):
            for start in range(0, len(part), MOST):
                rows, title = part.iloc[start : start + MOST], printed_name(str(artefact))
                width = max(len(rows) * SLOT, 7 * len(title))
                if x and x + LEFT + width > WIDTH:
                    x, y, labelled = 0, y + HEIGHT + GAP + HEAD, None
                is_labelled = labelled != is_score
                x, labelled = x + LEFT * is_labelled, is_score
                yield {
                    **{"title": title, "x": x, "y": y, "width": width},
                    "marks": list(_marks(rows, height, not is_score, on_page)),
                    "lines": [(height(v) or 0, text * is_labelled) for v, text in labels.items()],
                }
                x += width + GAP


def _height(value: float, low: float, high: float) -> float | None:
    """Return the height of a value between the ends of an axis; None for NaN."""
    if pd.isna(value):
        return None
    return round(HEIGHT * (1 - (min(max(value, low), high) - low) / (high - low)), 1)


def _ratio_height(value: float) -> float | None:
    largest = math.log(TIMES)
    return _height(math.log(max(value, 1 / TIMES)), -largest, largest)


def _marks(
    rows: pd.DataFrame,
    height: Callable[[float], float | None],
    is_ratio: bool,
    on_page: Mapping[tuple, str],
) -> Iterator[dict]:
    """Yield each number: its place from the left, heights, text, and id on the page."""
    for place, row in enumerate(rows.to_dict("records")):
        unit = row["published"] if is_ratio else 1
        if unit:
            form = "{:g}".format if is_ratio else three_decimals
            ours = "" if pd.isna(row["mean"]) else f"ours {form(row['mean'])}, "
            published = f"published {form(row['published'])}: {row['verdict']}"
            yield {
                "x": (place + 0.5) * SLOT,
                "published": height(row["published"] / unit),
                "ours": height(row["mean"] / unit),
                "low": height(row["run_low"] / unit),
                "high": height(row["run_high"] / unit),
                "verdict": row["verdict"],
                "text": f"{row['row']}, {row['column']}: {ours}{published}",
                "number": on_page.get(ledger_key(row), ""),
            }
