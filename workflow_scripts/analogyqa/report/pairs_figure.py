"""The pairs of cross-fitted systems as a figure: by how much the first ranks better."""

import textwrap
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

from analogyqa.measures import MEASURES
from analogyqa.report.crossfit import EVERY
from analogyqa.report.figures import COLOURS, STYLE, finish
from analogyqa.report.ledger import NOT_RUN, OTHER_DATA
from analogyqa.settings.run import Config

LETTERS_OF_LABEL = 50


def draw_pairs(frame: pd.DataFrame, config: Config, files: dict[str, str | Path]) -> None:
    """Draw the difference of every pair on all questions, a panel for each data set.

    The same data give the same bytes.

    Args:
        frame: of columns PAIRS.
        config: the titles, and what the intervals are.
        files: format (png, svg) to path.
    """
    shown = frame[frame["by"] == EVERY]
    datasets, pairs = shown["dataset"].unique(), shown.drop_duplicates("pair").set_index("pair")
    labels = []
    for row in pairs.to_dict("records"):
        first, second = (config.systems[row[name]].title for name in ("first", "second"))
        lines = [first, *textwrap.wrap(f"against {second}", LETTERS_OF_LABEL)]
        labels.append("\n".join(lines))
    with plt.rc_context(STYLE):
        figure, panels = plt.subplots(
            ncols=len(datasets),
            figsize=(4.4 + 3.2 * len(datasets), 1.9 + 0.5 * len(pairs)),
            layout="constrained",
            sharex=True,
            sharey=True,
            squeeze=False,
        )
        for axes, dataset in zip(panels.flat, datasets, strict=True):
            part = shown[shown["dataset"] == dataset].set_index("pair").reindex(pairs.index)
            for row, values in enumerate(part.to_dict("records")):
                _draw_pair(axes, row, values)
            count = part["n_items"].max()
            title = config.datasets[dataset].title
            heading = f"{title}, {count} questions" if pd.notna(count) else title
            axes.set_title(heading, fontsize="medium")
            axes.axvline(0, color="black", linewidth=0.8)
            axes.set_xlabel(f"{MEASURES[shown['measure'].iloc[0]].short} more by the first")
            axes.grid(axis="x", alpha=0.3)
        first = panels.flat[0]
        first.set_yticks(range(len(pairs)), labels, fontsize="small")
        first.set_ylim(len(pairs) - 0.4, -0.8)
        lines = [
            "Pairs of cross-fitted systems on all questions",
            f"{config.bootstrap.confidence:.0%} intervals over questions and seeds; orange: zero "
            "lies outside",
        ]
        finish(figure, "\n".join(lines + ([] if config.comparable else [OTHER_DATA])), files)


def _draw_pair(axes: plt.Axes, row: int, values: dict) -> None:
    if pd.isna(values["difference"]):
        middle = axes.get_yaxis_transform()
        axes.text(0.5, row, NOT_RUN, transform=middle, ha="center", fontsize="small")
        return
    decided = values["low"] > 0 or values["high"] < 0
    colour = COLOURS[1 if decided else 0]
    axes.plot([values["low"], values["high"]], [row, row], color=colour)
    axes.plot(values["difference"], row, marker="o", color=colour)
    axes.annotate(
        f"{values['difference']:+.3f}", (values["difference"], row), (0, 6),
        textcoords="offset points", ha="center", fontsize="small",
    )  # fmt: skip
