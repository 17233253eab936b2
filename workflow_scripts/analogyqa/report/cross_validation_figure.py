"""The cross-validated systems as a figure."""

from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

from analogyqa.measures import MEASURES
from analogyqa.report.cross_validation import EVERY
from analogyqa.report.figures import COLOURS, seed_counts
from analogyqa.report.legend import percent
from analogyqa.report.rows_figure import draw_rows
from analogyqa.settings.run import Config
from analogyqa.settings.studies import CrossValidation


def draw_cross_validation(
    frame: pd.DataFrame, config: Config, study: CrossValidation, files: dict[str, str | Path]
) -> None:
    """Draw the main measure of every system, with a panel for each data set.

    The same data give the same bytes.

    Args:
        frame: columns CROSS_VALIDATION.
        config: the configuration of the runs.
        study: the cross-validation.
        files: the paths by format (png, svg).
    """
    measure = study.measures[0]
    shown = frame[(frame["measure"] == measure) & (frame["origin"] == EVERY)]
    shown = shown.assign(row=shown["system"], text=shown["mean"].map("{:.3f}".format))
    labels = {name: [config.systems[name].title] for name in shown["system"].unique()}
    heading = [
        f"Cross-validation: all questions of {study.subset}, in {study.folds} folds",
        f"thin: {percent(config)} intervals over questions and "
        f"{seed_counts(shown)} seeds; thick: prediction intervals of one more run",
    ]
    x_label = MEASURES[measure].title
    draw_rows(shown, "mean", labels, _draw_system, x_label, heading, config, files)


def _draw_system(axes: plt.Axes, row: int, values: dict) -> None:
    # All other systems are compared with the first one.
    colour = COLOURS[1 if row == 0 else 0]
    axes.plot([values["ci_low"], values["ci_high"]], [row, row], color=colour)
    if pd.notna(values["run_low"]):
        run = [values["run_low"], values["run_high"]]
        axes.plot(run, [row, row], color=colour, linewidth=5, alpha=0.35)
    axes.plot(values["mean"], row, marker="o", color=colour)
