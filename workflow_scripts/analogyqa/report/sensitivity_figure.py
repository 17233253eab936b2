"""The figure of a sensitivity study."""

from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analogyqa.evaluation.claims import FAILS, HOLDS
from analogyqa.evaluation.verdicts import NOT_RUN, OTHER_DATA
from analogyqa.measures import MEASURES
from analogyqa.report.figures import (
    COLOURS,
    PUBLISHED,
    line_style,
    own_style,
    save_figure,
    seed_counts,
)
from analogyqa.report.legend import percent
from analogyqa.report.sensitivity import AT_PAPER, NO_EFFECT, plain_words
from analogyqa.settings.run import Config
from analogyqa.settings.studies import Sensitivity


def draw_sensitivity(
    frame: pd.DataFrame, config: Config, study: Sensitivity, files: dict[str, str | Path]
) -> None:
    """Draw every variation as a row, with a panel for each data set; equal data, equal bytes.

    Args:
        frame: Columns SENSITIVITY.
        files: The paths by format (png, svg).
    """
    rows = frame[frame["measure"] == study.measure]
    choices = list(dict.fromkeys(zip(rows["choice"], rows["value"], strict=True)))
    with own_style():
        size = (2.8 + 4.4 * len(study.datasets), 2.4 + 0.34 * len(choices))
        figure = Figure(size, layout="constrained")
        panels = figure.subplots(ncols=len(study.datasets), sharey=True, squeeze=False)
        figure.get_layout_engine().set(w_pad=0.1)
        for axes, dataset in zip(panels.flat, study.datasets, strict=True):
            _draw_panel(axes, rows[rows["dataset"] == dataset], choices, config, study)
            pad = 11 + 9 * max(1, len(study.systems) - 1)
            axes.set_title(config.datasets[dataset].title, fontsize="medium", pad=pad)
        save_figure(figure, _title(frame, config, study), files)


def _draw_panel(
    axes: Axes,
    part: pd.DataFrame,
    choices: list[tuple[str, str]],
    config: Config,
    study: Sensitivity,
) -> None:
    """Draw one data set: a row for each of the `choices`, with the verdict on the claim."""
    if not choices:
        axes.text(0.5, 0.5, NOT_RUN, transform=axes.transAxes, horizontalalignment="center")
        return
    names = list(dict.fromkeys(choice for choice, _ in choices))
    for row, (choice, _) in enumerate(choices):
        if names.index(choice) % 2:
            axes.axhspan(row - 0.5, row + 0.5, color="0.95", linewidth=0, zorder=0)
    for index, system in enumerate(study.systems):
        aside = (index - (len(study.systems) - 1) / 2) * 0.72 / len(study.systems)
        rows = part[part["system"] == system].to_dict("records")
        _draw_system(axes, rows, config.systems[system].title, index, aside)
    _label_published(axes, part.drop_duplicates("system")["published"].tolist())
    # A verdict has the colour of the system that it finds better.
    colours = {HOLDS: COLOURS[0], FAILS: COLOURS[1]}
    beside = {"transform": axes.get_yaxis_transform(), "va": "center", "fontsize": "small"}
    for row, verdict in enumerate(part.drop_duplicates(["choice", "value"])["verdict"]):
        axes.text(1.02, row, verdict, **beside, color=colours.get(verdict, "0.5"))
    labels = [
        f"{plain_words(choice)}: {plain_words(value)}" if value else AT_PAPER
        for choice, value in choices
    ]
    axes.set_yticks(range(len(choices)), labels)
    for label in axes.get_yticklabels()[:1]:
        label.set_fontweight("bold")
    axes.set_ylim(len(choices) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.set_xlabel(MEASURES[study.measure].title)
    axes.grid(axis="x", alpha=0.3)


def _draw_system(axes: Axes, rows: list[dict], title: str, index: int, aside: float) -> None:
    """Draw the points of a system, hollow where the variation changes nothing in it."""
    style = line_style(index)
    colour = style["color"]
    look = {"markersize": 5, "capsize": 2, "elinewidth": 1.2, "label": title, **style}
    for number, row in enumerate(rows):
        if pd.notna(row["mean"]):
            spread = [[row["mean"] - row["ci_low"]], [row["ci_high"] - row["mean"]]]
            face = "white" if row["reason"] == NO_EFFECT else colour
            at = row["mean"], number + aside
            axes.errorbar(*at, xerr=spread, markerfacecolor=face, **look)
            look["label"] = None
    if rows and pd.notna(rows[0]["mean"]):
        axes.axvline(rows[0]["mean"], color=colour, linewidth=1, alpha=0.35, zorder=1)
    if rows and pd.notna(rows[0]["published"]):
        line = {"linestyle": (0, (5, 3)), "linewidth": 1.2, "label": title + PUBLISHED}
        axes.axvline(rows[0]["published"], color=colour, zorder=1, **line)


def _label_published(axes: Axes, published: list[float]) -> None:
    """Write each published value above its line, so that none overlap."""
    known = sorted((value, index) for index, value in enumerate(published) if pd.notna(value))
    for order, (value, index) in enumerate(known):
        axes.annotate(
            f"{value:g}",
            (value, 1),
            (-2 if order == 0 else 2, 2 + 9 * max(0, order - 1)),
            xycoords=axes.get_xaxis_transform(),
            textcoords="offset points",
            ha="right" if order == 0 else "left",
            fontsize="small",
            color=COLOURS[index % len(COLOURS)],
        )


def _title(frame: pd.DataFrame, config: Config, study: Sensitivity) -> str:
    titles = [config.systems[name].title for name in study.systems]
    lines = [
        "Open choices, each varied alone, the rest as in the paper",
        "first row and faint lines: the paper's hyperparameters",
        f"{study.subset}, test split; bars: {percent(config)} intervals over questions and "
        f"{seed_counts(frame)} seeds",
        "hollow: changes nothing in this system",
    ]
    if len(titles) > 1:
        lines.append(f"right: the claim that {titles[0]} ranks better than {titles[1]}")
    if not config.comparable:
        lines.append(f"{OTHER_DATA}: no published values")
    return "\n".join(lines)
