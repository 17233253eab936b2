"""The figures of a paper: curves over an axis, or a heat map of two, with the published values."""

import textwrap
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.figure import Figure

from analogyqa.files import atomic_path
from analogyqa.measures import MEASURES
from analogyqa.plan import cells_by_hyperparameters, why_no_run
from analogyqa.report.bars import draw_bars
from analogyqa.report.results import Results
from analogyqa.report.summary import MEASURED, typed
from analogyqa.report.verdicts import NOT_RUN, OTHER_DATA, no_run
from analogyqa.settings.coordinates import Coordinates
from analogyqa.settings.overrides import text_of
from analogyqa.settings.paper import OWN, Artefact, Paper
from analogyqa.settings.run import Config

FIGURE = {
    "panel": "str",
    "line": "str",
    "x": "str",
    "y": "str",
    "system": "str",
    "dataset": "str",
    "subset": "str",
    "measure": "str",
    **MEASURED,
    "published": "float64",
    "provenance": "str",
    "reason": "str",
}
# How an axis is labelled; another one by its name.
_AXIS_TITLES = {"p": "number of prototypes p of each question type"}
PUBLISHED = ", published"

# Okabe and Ito's palette: told apart with any colour vision; the markers tell them apart in print.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
MARKERS = ("o", "s", "^", "D", "v", "P")
STYLE = {"svg.hashsalt": "analogyqa", "axes.spines.top": False, "axes.spines.right": False}
LETTERS_PER_INCH = 12  # of text of medium size
LETTERS_OF_HEIGHT = 36  # of a panel
MOST_TICKS = 20  # on an axis, side by side


def build_figure(paper: Paper, name: str, results: Results, config: Config) -> pd.DataFrame:
    """Return the data of a figure: columns FIGURE, a row for each panel, line and point.

    `published` is what the tables of the paper print at the same coordinates. The point at which a
    line is highest, by the paper's text, has a row even if the run has no such point.
    """
    artefact = paper.artefacts[name]
    best = {(number.row, number.column): number.published for number in artefact.numbers()}
    ((x, points),) = artefact.x.items()
    shown = {text_of(point): point for point in config.sweeps.get(x, points)}
    every = {text_of(point): point for point in points} | shown
    in_order = [*shown.values(), *(every[text] for text in every if text not in shown)]
    rows = []
    for panel, line, point, coordinates in artefact.points(config.sweeps | {x: in_order}):
        at = text_of(point[x])
        is_best = (line, panel) in best and at == text_of(best[line, panel])
        if at not in shown and not is_best:
            continue
        reason = why_no_run(coordinates, config) if at in shown else "not shown here"
        run: dict = {}
        if not reason:
            cell = next(iter(cells_by_hyperparameters(coordinates, config).values()))
            run = results.by_cell.get((cell, coordinates.measure or ""), {})
            reason = "" if run else no_run(cell)
        published = paper.published_at(coordinates)
        if published is None and is_best:
            published = paper.published_at(_without(coordinates, x))
        rows.append(
            run
            | {key: getattr(coordinates, key) for key in ("system", "dataset", "subset", "measure")}
            | {"panel": panel, "line": line, "published": published, "reason": reason}
            | {"x": at, "y": "".join(text_of(point[y]) for y in artefact.y)}
        )
    return typed(rows, FIGURE)


def _without(coordinates: Coordinates, axis: str) -> Coordinates:
    """Return coordinates without one of their axes, whose value is then the configured one."""
    return Coordinates(
        **{k: v for k, v in coordinates.model_dump(exclude_unset=True).items() if k != axis}
    )


def draw_figure(
    frame: pd.DataFrame, paper: Paper, name: str, config: Config, files: dict[str, str | Path]
) -> None:
    """Draw a figure from its data, side by side a panel for each; the same bytes for the same data.

    Args:
        frame: as `build_figure` returns it.
        paper, name: give the title.
        config: the titles of the data sets, and what the intervals are.
        files: format (png, svg) to path.
    """
    artefact = paper.artefacts[name]
    # Many lines need room, beside each other at each point and below each other in the legend;
    # so do the numbers in the tiles of a heat map.
    width = max(4.8, (0.7 if artefact.y else 0.1 * len(artefact.lines)) * frame["x"].nunique())
    height = 4 + 0.2 * max(len(artefact.lines), frame["y"].nunique())
    with plt.rc_context(STYLE):
        figure, panels = plt.subplots(
            ncols=len(artefact.panels),
            figsize=(1.6 + width * len(artefact.panels), height),
            layout="constrained",
            squeeze=False,
        )
        for axes, panel in zip(panels.flat, artefact.panels, strict=True):
            part = frame[frame["panel"] == panel]
            measure = MEASURES[part["measure"].iloc[0]].title
            # A panel that is about a measure alone needs no other title.
            heading = panel if artefact.panels[panel].model_fields_set - {"measure"} else ""
            if artefact.stacked:
                draw_bars(axes, part, COLOURS)
                _turn_long_labels(axes, list(part["x"].unique()))
                heading = heading or panel
            elif artefact.y:
                _draw_heat_map(axes, part, artefact)
                heading = ": ".join(filter(None, [heading, measure]))
            else:
                _draw_lines(axes, part, artefact, config)
                axes.set_ylabel("\n".join(textwrap.wrap(measure, LETTERS_OF_HEIGHT)))
            lines = textwrap.wrap(heading, int(width * LETTERS_PER_INCH))
            axes.set_title("\n".join(lines), fontsize="medium")
        finish(figure, _title(frame, paper, name, config), files)


def finish(figure: Figure, title: str, files: dict[str, str | Path]) -> None:
    """Put the legend of all panels and the title to a figure, write it and close it.

    Labels that end in `PUBLISHED` come in the second column.

    Args:
        figure: with its panels drawn.
        title: of one or more lines; a long one is wrapped.
        files: format (png, svg) to path; the same figure gives the same bytes.
    """
    entries: dict[str, Artist] = {}
    for axes in figure.axes:
        handles, labels = axes.get_legend_handles_labels()
        entries |= dict(zip(labels, handles, strict=True))
    if entries:
        labels = sorted(entries, key=lambda label: label.endswith(PUBLISHED))
        handles = [entries[label] for label in labels]
        figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
    width = int(figure.get_figwidth() * LETTERS_PER_INCH)
    lines = [part for line in title.split("\n") for part in textwrap.wrap(line, width)]
    figure.suptitle("\n".join(lines), x=0.02, horizontalalignment="left", fontsize="medium")
    for kind, path in files.items():
        # Without these the file would hold the date and the version of Matplotlib.
        metadata = {"Date": None, "Creator": None} if kind == "svg" else {"Software": None}
        with atomic_path(path) as temporary:
            figure.savefig(temporary, format=kind, dpi=200, metadata=metadata)
    plt.close(figure)


def style_of(index: int) -> dict[str, str]:
    """Return the colour and the marker of a line; no two of the first 36 share both."""
    return {
        "color": COLOURS[index % len(COLOURS)],
        "marker": MARKERS[(index + index // len(COLOURS)) % len(MARKERS)],
    }


def _draw_lines(axes: plt.Axes, frame: pd.DataFrame, artefact: Artefact, config: Config) -> None:
    (x,) = artefact.x
    place, joined = _places(list(frame["x"].unique()))
    axes.set_xticks(list(place.values()), list(place))
    _turn_long_labels(axes, list(place))
    lines = list(frame.groupby("line", sort=False))
    at = sorted(place.values())
    span, gap = (at[-1] - at[0], min(np.diff(at))) if len(at) > 1 else (1, 1)
    # A little to the side, so that one interval does not hide the other.
    step = min(0.015 * span, 0.8 * gap / len(lines))
    for index, (line, part) in enumerate(lines):
        aside = (index - (len(lines) - 1) / 2) * step
        label = _label(artefact.lines[line], line, config)
        # The published value is labelled with the paper's name for its data: ours may be others.
        labels = (label, line + PUBLISHED)
        _draw_line(axes, part["x"].map(place) + aside, part, labels, index, joined)
    if not frame["mean"].notna().any():
        # Above the middle, where a single published value is.
        axes.text(0.5, 0.8, NOT_RUN, transform=axes.transAxes, ha="center")
    axes.set_xlabel(_axis_title(x))
    room = 0.05 * span + step * len(lines)
    axes.set_xlim(at[0] - room, at[-1] + room)
    axes.grid(axis="y", alpha=0.3)


def _places(names: list[str]) -> tuple[dict[str, float], bool]:
    """Return where the points of x stand, and whether they are numbers that a line may join.

    Numbers too near to each other to be labelled stand in equal distances, and so do words.
    """
    try:
        place = {name: float(name) for name in sorted(names, key=float)}
    except ValueError:
        return {name: float(number) for number, name in enumerate(names)}, False
    at = list(place.values())
    if len(at) > 1 and min(np.diff(at)) < (at[-1] - at[0]) / MOST_TICKS:
        place = {name: float(number) for number, name in enumerate(place)}
    return place, True


def _turn_long_labels(axes: plt.Axes, names: list[str]) -> None:
    room = axes.get_figure().get_figwidth() / len(axes.get_figure().axes) * 0.75 / len(names)
    if max(map(len, names)) > room * LETTERS_PER_INCH:
        axes.tick_params(axis="x", labelrotation=30)
        for label in axes.get_xticklabels():
            label.set_horizontalalignment("right")


def _axis_title(name: str) -> str:
    return _AXIS_TITLES.get(name, name.replace("_", " "))


def _label(coordinates: Coordinates, line: str, config: Config) -> str:
    """Return our label of a line: the title of its data set where it is about that alone."""
    alone = coordinates.model_fields_set == {"dataset"} and coordinates.dataset in config.datasets
    return config.datasets[coordinates.dataset].title if alone else line


def _draw_line(
    axes: plt.Axes,
    at: pd.Series,
    part: pd.DataFrame,
    labels: tuple[str, str],
    index: int,
    joined: bool,
) -> None:
    """Draw ours and the published values of one line, each with its label."""
    style = style_of(index)
    run = part["mean"].notna()
    if run.any():
        ours = part[run]
        axes.errorbar(
            at[run],
            ours["mean"],
            yerr=[ours["mean"] - ours["ci_low"], ours["ci_high"] - ours["mean"]],
            **style,
            capsize=4,
            elinewidth=1,
            linestyle="-" if joined else "none",
            label=labels[0],
        )
    printed = part["published"].notna()
    if printed.any():
        axes.plot(
            at[printed],
            part.loc[printed, "published"],
            linestyle="none",
            **style,
            markersize=11,
            markerfacecolor="none",
            label=labels[1],
        )


def _draw_heat_map(axes: plt.Axes, frame: pd.DataFrame, artefact: Artefact) -> None:
    """Draw a tile for each pair of points, our mean in it and the published value below."""
    (x,), (y,) = artefact.x, artefact.y
    columns, rows = list(frame["x"].unique()), list(frame["y"].unique())
    means = frame.pivot(index="y", columns="x", values="mean").reindex(rows, columns=columns)
    # Light colours only, so that the numbers are read on each.
    axes.imshow(means.to_numpy(dtype=float), cmap="Blues", aspect="auto", alpha=0.4)
    for row in frame.to_dict("records"):
        text = NOT_RUN if pd.isna(row["mean"]) else f"{row['mean']:.3f}"
        text += "" if pd.isna(row["published"]) else f"\n({row['published']:g})"
        place = columns.index(row["x"]), rows.index(row["y"])
        axes.text(*place, text, horizontalalignment="center", verticalalignment="center")
    axes.set_xticks(range(len(columns)), columns)
    axes.set_yticks(range(len(rows)), rows)
    _turn_long_labels(axes, columns)
    axes.set_xlabel(_axis_title(x))
    axes.set_ylabel(_axis_title(y))


def seeds_of(frame: pd.DataFrame) -> str:
    """Return how many seeds the rows of a figure have."""
    return " or ".join(map(str, sorted(frame["n_seeds"].dropna().unique()))) or "no"


def _title(frame: pd.DataFrame, paper: Paper, name: str, config: Config) -> str:
    confidence = f"{config.bootstrap.confidence * 100:g}%"
    title = paper.artefacts[name].title
    number = name.removeprefix("figure")
    seeds = seeds_of(frame)
    spread = f"bars: {confidence} intervals over questions and {seeds} seeds"
    if paper.artefacts[name].y or paper.artefacts[name].stacked:
        spread = f"means over {seeds} seeds"
    lines = [
        title if paper.paper == OWN else f"Figure {number} of {paper.paper}: {title}",
        f"test split; {spread}",
    ]
    if not config.comparable and frame["published"].notna().any():
        lines.append(OTHER_DATA)
    return "\n".join(lines)
