"""Stacked bars of shares."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd


def draw_bars(axes: plt.Axes, frame: pd.DataFrame, colours: Sequence[str]) -> None:
    """Draw a bar for each point of x, with a part for each line, the first at the bottom.

    Args:
        axes: the panel to draw into.
        frame: the data of the panel, columns line, x and mean.
        colours: the colours of the lines. The parts of the first line are labelled with their
            values.
    """
    points, lines = list(frame["x"].unique()), list(frame["line"].unique())
    means = frame.pivot(index="line", columns="x", values="mean").reindex(lines, columns=points)
    bottom = np.zeros(len(points))
    for line, colour in zip(lines, colours, strict=False):
        part = means.loc[line].fillna(0).to_numpy()
        axes.bar(points, part, bottom=bottom, color=colour, label=line)
        bottom += part
    for position, share in enumerate(means.iloc[0]):
        text = "not run" if pd.isna(share) else f"{share:.2f}"
        axes.text(position, 0.01, text, ha="center", va="bottom", fontsize="small")
    axes.set_ylim(0, 1)
    axes.set_ylabel("share of the analogies")
