"""Bars of shares of a whole, stacked."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd


def draw_bars(axes: plt.Axes, frame: pd.DataFrame, colours: Sequence[str]) -> None:
    """Draw a bar for each point of x, its parts in the order of the lines, the first at the bottom.

    Args:
        axes: to draw into.
        frame: a panel of a figure, columns line, x and mean.
        colours: of the lines; the first has the numbers of its parts in it.
    """
    points, lines = list(frame["x"].unique()), list(frame["line"].unique())
    means = frame.pivot(index="line", columns="x", values="mean").reindex(lines, columns=points)
    bottom = np.zeros(len(points))
    for line, colour in zip(lines, colours, strict=False):
        part = means.loc[line].fillna(0).to_numpy()
        axes.bar(points, part, bottom=bottom, color=colour, label=line)
        bottom += part
    for place, share in enumerate(means.iloc[0]):
        text = "not run" if pd.isna(share) else f"{share:.2f}"
        axes.text(place, 0.01, text, ha="center", va="bottom", fontsize="small")
    axes.set_ylim(0, 1)
    axes.set_ylabel("share of the analogies")
