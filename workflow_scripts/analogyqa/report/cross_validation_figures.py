"""The figures of cross-validated systems and of pairs of them: a panel for each data set."""

import textwrap
from collections.abc import Callable
from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analogyqa.evaluation.verdicts import NOT_RUN, OTHER_DATA
from analogyqa.measures import MEASURES
from analogyqa.report.cross_validation import EVERY, with_count
from analogyqa.report.figures import COLOURS, own_style, save_figure, seed_counts
from analogyqa.report.legend import percent
from analogyqa.settings.run import Config
from analogyqa.settings.studies import CrossValidation

LABEL_WIDTH = 50  # characters


def draw_cross_validation(
    frame: pd.DataFrame, config: Config, study: CrossValidation, files: dict[str, str | Path]
) -> None:
    """Draw the main measure of every system; the same data give the same bytes.

    Args:
        frame: Columns CROSS_VALIDATION.
        files: The paths by format (png, svg).
    """
    measure = study.measures[0]
    rows = frame[(frame["measure"] == measure) & (frame["origin"] == EVERY)]
    rows = rows.assign(row=rows["system"], text=rows["mean"].map("{:.3f}".format))
    labels = {name: [config.systems[name].title] for name in rows["system"].unique()}
    heading = [
        f"Cross-validation: all questions of {study.subset}, in {study.folds} folds",
        f"thin: {percent(config)} intervals over questions and "
        f"{seed_counts(rows)} seeds; thick: prediction intervals of one more run",
    ]
    x_label = MEASURES[measure].title
    _draw_rows(rows, "mean", labels, _draw_system, x_label, heading, config, files)


def _draw_system(axes: Axes, row: int, values: dict) -> None:
    # All other systems are compared with the first one.
    colour = COLOURS[1 if row == 0 else 0]
    axes.plot([values["ci_low"], values["ci_high"]], [row, row], color=colour)
    if pd.notna(values["run_low"]):
        run = [values["run_low"], values["run_high"]]
        axes.plot(run, [row, row], color=colour, linewidth=5, alpha=0.35)
    axes.plot(values["mean"], row, marker="o", color=colour)


def draw_pairs(frame: pd.DataFrame, config: Config, files: dict[str, str | Path]) -> None:
    """Draw the difference of every pair on all questions; the same data give the same bytes.

    Args:
        frame: Columns PAIRS.
        files: The paths by format (png, svg).
    """
    rows = frame[frame["by"] == EVERY]
    rows = rows.assign(row=rows["pair"], text=rows["difference"].map("{:+.3f}".format))
    labels = {}
    for row in rows.drop_duplicates("pair").to_dict("records"):
        first, second = (config.systems[row[name]].title for name in ("first", "second"))
        labels[row["pair"]] = [first, f"against {second}"]
    heading = [
        "Pairs of cross-validated systems on all questions",
        f"{percent(config)} intervals over questions and seeds; orange: without zero",
    ]
    x_label = f"{MEASURES[rows['measure'].iloc[0]].short}: first minus second"
    _draw_rows(rows, "difference", labels, _draw_pair, x_label, heading, config, files, True)


def _draw_pair(axes: Axes, row: int, values: dict) -> None:
    axes.axvline(0, color="black", linewidth=0.8)
    decided = values["low"] > 0 or values["high"] < 0
    colour = COLOURS[1 if decided else 0]
    axes.plot([values["low"], values["high"]], [row, row], color=colour)
    axes.plot(values["difference"], row, marker="o", color=colour)


def _draw_rows(
    frame: pd.DataFrame,
    value: str,
    labels: dict[str, list[str]],
    draw_row: Callable[[Axes, int, dict], None],
    x_label: str,
    heading: list[str],
    config: Config,
    files: dict[str, str | Path],
    share_x: bool = False,
) -> None:
    """Draw a panel for each data set, with the rows from top to bottom.

    Args:
        frame: A line for each data set and row; `draw_row` reads its columns.
        value: The column with the value; if it is missing, the row shows "not run".
        labels: The lines of each row's label.
        draw_row: Draws the values of a row at a height of a panel.
        heading: The lines of the title.
    """
    wrapped = [
        [line for part in parts for line in textwrap.wrap(part, LABEL_WIDTH)]
        for parts in labels.values()
    ]
    datasets = frame["dataset"].unique()
    count = max(1, len(datasets))
    height = 1.9 + sum(0.2 + 0.16 * len(lines) for lines in wrapped)
    with own_style():
        figure = Figure((3.4 + 3.4 * count, height), layout="constrained")
        panels = figure.subplots(ncols=count, sharex=share_x, sharey=True, squeeze=False)
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
