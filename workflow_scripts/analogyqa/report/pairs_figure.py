"""The figure of pairs of cross-validated systems."""

from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

from analogyqa.measures import MEASURES
from analogyqa.report.cross_validation import EVERY
from analogyqa.report.figures import COLOURS
from analogyqa.report.legend import percent
from analogyqa.report.rows_figure import draw_rows
from analogyqa.settings.run import Config


def draw_pairs(frame: pd.DataFrame, config: Config, files: dict[str, str | Path]) -> None:
    """Draw the difference of every pair on all questions, with a panel for each data set.

    The same data give the same bytes.

    Args:
        frame: columns PAIRS.
        config: the configuration of the runs.
        files: the paths by format (png, svg).
    """
    shown = frame[frame["by"] == EVERY]
    shown = shown.assign(row=shown["pair"], text=shown["difference"].map("{:+.3f}".format))
    labels = {}
    for row in shown.drop_duplicates("pair").to_dict("records"):
        first, second = (config.systems[row[name]].title for name in ("first", "second"))
        labels[row["pair"]] = [first, f"against {second}"]
    heading = [
        "Pairs of cross-validated systems on all questions",
        f"{percent(config)} intervals over questions and seeds; orange: without zero",
    ]
    x_label = f"{MEASURES[shown['measure'].iloc[0]].short}: first minus second"
    draw_rows(shown, "difference", labels, _draw_pair, x_label, heading, config, files, True)


def _draw_pair(axes: plt.Axes, row: int, values: dict) -> None:
    axes.axvline(0, color="black", linewidth=0.8)
    decided = values["low"] > 0 or values["high"] < 0
    colour = COLOURS[1 if decided else 0]
    axes.plot([values["low"], values["high"]], [row, row], color=colour)
    axes.plot(values["difference"], row, marker="o", color=colour)
