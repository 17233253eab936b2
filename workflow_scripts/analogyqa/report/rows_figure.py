"""A figure with a row for each system or pair of systems, and a panel for each data set."""

import textwrap
from collections.abc import Callable
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

from analogyqa.report.cross_validation import with_count
from analogyqa.report.figures import STYLE, save_figure
from analogyqa.report.verdicts import NOT_RUN, OTHER_DATA
from analogyqa.settings.run import Config

LETTERS_OF_LINE = 50  # of a label


def draw_rows(
    frame: pd.DataFrame,
    value: str,
    labels: dict[str, list[str]],
    draw_row: Callable[[plt.Axes, int, dict], None],
    x_label: str,
    heading: list[str],
    config: Config,
    files: dict[str, str | Path],
    share_x: bool = False,
) -> None:
    """Draw a panel for each data set, with the rows from top to bottom; equal data, equal bytes.

    Args:
        frame: a line for each data set and row; `draw_row` reads its columns.
        value: the column with the value; if it is missing, the row shows "not run".
        labels: the lines of each row's label.
        draw_row: draws the values of a row at a height of a panel.
        x_label: the label of the x axis.
        heading: the lines of the title.
        config: gives the titles of the data sets.
        files: the path of each format (png, svg).
        share_x: whether the panels share the x axis.
    """
    wrapped = [
        [line for part in parts for line in textwrap.wrap(part, LETTERS_OF_LINE)]
        for parts in labels.values()
    ]
    datasets = frame["dataset"].unique()
    count = max(1, len(datasets))
    height = 1.9 + sum(0.2 + 0.16 * len(lines) for lines in wrapped)
    with plt.rc_context(STYLE):
        figure, panels = plt.subplots(
            ncols=count,
            figsize=(3.4 + 3.4 * count, height),
            layout="constrained",
            sharex=share_x,
            sharey=True,
            squeeze=False,
        )
        for axes, dataset in zip(panels.flat, datasets, strict=False):
            part = frame[frame["dataset"] == dataset].set_index("row").reindex(list(labels))
            for row, values in enumerate(part.to_dict("records")):
                if pd.isna(values[value]):
                    middle = axes.get_yaxis_transform()
                    axes.text(0.5, row, NOT_RUN, transform=middle, ha="center", fontsize="small")
                else:
                    draw_row(axes, row, values)
                    axes.annotate(
                        values["text"], (values[value], row), (0, 6),
                        textcoords="offset points", ha="center", fontsize="small",
                    )  # fmt: skip
            axes.set_title(with_count(dataset, part, config), fontsize="medium")
            axes.set_xlabel(x_label)
            axes.grid(axis="x", alpha=0.3)
        first = panels.flat[0]
        first.set_yticks(range(len(labels)), list(map("\n".join, wrapped)), fontsize="small")
        first.set_ylim(len(labels) - 0.4, -0.8)
        save_figure(figure, "\n".join(heading + ([] if config.comparable else [OTHER_DATA])), files)
