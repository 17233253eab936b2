"""The figures of a paper: curves over an axis, or a heat map of two, with the published values."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from analogyqa.files import atomic_path
from analogyqa.measures import MEASURES
from analogyqa.plan import cells_by_setting, why_not
from analogyqa.report.ledger import OTHER_DATA
from analogyqa.report.summary import MEASURED, by_cell, typed
from analogyqa.settings.axes import text_of
from analogyqa.settings.paper import OWN, SCORE, Artefact, Paper, Where
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


def build_figure(paper: Paper, name: str, summary: pd.DataFrame, config: Config) -> pd.DataFrame:
    """Return the data of a figure: columns FIGURE, a row for each panel, line and point.

    `published` is what the tables of the paper print for the same run. The point at which the
    paper's text says that a line is highest has a row even where the run has no such point.
    """
    artefact, found = paper.artefacts[name], by_cell(summary)
    best = {(number.row, number.column): number.published for number in artefact.numbers()}
    ((x, points),) = artefact.x.items()
    shown = config.axes.get(x, points)
    rows = []
    for panel, line, point, where in artefact.points({x: [*shown, *_others(points, shown)]}):
        at = best.get((line, panel))
        is_shown, is_best = point[x] in shown, at is not None and float(point[x]) == at
        reason = why_not(where, config) if is_shown else "not shown here"
        cell = None if reason else next(iter(cells_by_setting(where, config).values()))
        run = found.get((cell, where.measure), {})
        if not (is_shown or is_best):
            continue
        plain = where.model_copy(update=dict.fromkeys(where.model_extra or {}))
        said = published_value(paper, where) if at is None else None
        if is_best:
            said = published_value(paper, where) or published_value(paper, _without(where, x))
        coordinates = {"x": text_of(point[x]), "y": "".join(text_of(point[y]) for y in artefact.y)}
        place = {key: getattr(plain, key) for key in ("system", "dataset", "subset", "measure")}
        rows.append(
            run | place | coordinates | {"panel": panel, "line": line, "published": said}
            | {"reason": "" if run else reason}
        )  # fmt: skip
    return typed(rows, FIGURE)


def _others(points: list, shown: list) -> list:
    return [point for point in points if point not in shown]


def _without(where: Where, axis: str) -> Where:
    """Return a place without one of its axes, whose value is then the configured one."""
    return Where(**{k: v for k, v in where.model_dump(exclude_unset=True).items() if k != axis})


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
    with plt.rc_context(STYLE):
        figure, panels = plt.subplots(
            ncols=len(artefact.panels),
            figsize=(1.6 + 4.8 * len(artefact.panels), 4.4),
            layout="constrained",
            squeeze=False,
        )
        entries = {}
        for axes, panel in zip(panels.flat, artefact.panels, strict=True):
            part = frame[frame["panel"] == panel]
            if artefact.y:
                _draw_heat_map(axes, part, artefact)
            else:
                _draw_lines(axes, part, artefact, config)
            if not part["mean"].notna().any():
                # Above the middle, where a single published value is.
                axes.text(0.5, 0.8, "not run", transform=axes.transAxes, ha="center")
            handles, labels = axes.get_legend_handles_labels()
            entries |= dict(zip(labels, handles, strict=True))
        finish(figure, entries, _title(frame, paper, name, config), files)


def finish(
    figure: Figure, entries: dict[str, object], title: str, files: dict[str, str | Path]
) -> None:
    """Put the legend and the title to a figure, write it and close it.

    Args:
        figure: with its panels drawn.
        entries: label to handle; labels that end in `PUBLISHED` come in the second column.
        title: of one or more lines.
        files: format (png, svg) to path; the same figure gives the same bytes.
    """
    if entries:
        labels = sorted(entries, key=lambda label: label.endswith(PUBLISHED))
        handles = [entries[label] for label in labels]
        figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
    figure.suptitle(title, x=0.02, horizontalalignment="left", fontsize="medium")
    for kind, path in files.items():
        # Without these the file would hold the date and the version of Matplotlib.
        metadata = {"Date": None, "Creator": None} if kind == "svg" else {"Software": None}
        with atomic_path(path) as temporary:
            figure.savefig(temporary, format=kind, dpi=200, metadata=metadata)
    plt.close(figure)


def published_value(paper: Paper, where: Where) -> float | None:
    """Return the score that the first table of a paper which has it prints for a place."""
    for artefact in paper.artefacts.values():
        for number in artefact.numbers():
            if number.kind == SCORE and number.where == where:
                return number.published
    return None


def _draw_lines(axes: plt.Axes, frame: pd.DataFrame, artefact: Artefact, config: Config) -> None:
    ((x, _),) = artefact.x.items()
    names = list(frame["x"].unique())
    try:
        place = {name: float(name) for name in names}
        axes.set_xticks(sorted(place.values()), sorted(names, key=float))
    except ValueError:  # names in place of numbers
        place = {name: float(number) for number, name in enumerate(names)}
        axes.set_xticks(range(len(names)), names)
    lines = list(frame.groupby("line", sort=False))
    span = np.ptp(list(place.values())) or 1
    for index, (line, part) in enumerate(lines):
        # A little to the side, so that one interval does not hide the other.
        aside = (index - (len(lines) - 1) / 2) * 0.015 * span
        at = part["x"].map(place) + aside
        label = _label(artefact.lines[line], line, config)
        # The published value is labelled with the paper's name for its data: ours may be others.
        _draw_line(axes, at, part, (label, line + PUBLISHED), index, joined=x != "subset")
    axes.set_xlabel(_AXIS_TITLES.get(x, x.replace("_", " ")))
    axes.set_ylabel(MEASURES[frame["measure"].iloc[0]].title)
    axes.margins(x=0.08)
    axes.grid(axis="y", alpha=0.3)


def _label(where: Where, line: str, config: Config) -> str:
    """Return our label of a line: the title of its data set where it is about that alone."""
    alone = where.model_fields_set == {"dataset"} and where.dataset in config.datasets
    return config.datasets[where.dataset].title if alone else line


def _draw_line(
    axes: plt.Axes,
    at: pd.Series,
    part: pd.DataFrame,
    labels: tuple[str, str],
    index: int,
    joined: bool,
) -> None:
    """Draw ours and the published values of one line, each with its label."""
    colour, marker = COLOURS[index % len(COLOURS)], MARKERS[index % len(MARKERS)]
    run = part["mean"].notna()
    if run.any():
        ours = part[run]
        axes.errorbar(
            at[run],
            ours["mean"],
            yerr=[ours["mean"] - ours["ci_low"], ours["ci_high"] - ours["mean"]],
            color=colour,
            marker=marker,
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
            marker=marker,
            markersize=11,
            markerfacecolor="none",
            markeredgecolor=colour,
            label=labels[1],
        )


def _draw_heat_map(axes: plt.Axes, frame: pd.DataFrame, artefact: Artefact) -> None:
    """Draw a tile for each pair of points, our mean in it and the published value below."""
    (x,), (y,) = artefact.x, artefact.y
    columns, rows = list(frame["x"].unique()), list(frame["y"].unique())
    means = frame.pivot(index="y", columns="x", values="mean").reindex(rows, columns=columns)
    printed = frame.pivot(index="y", columns="x", values="published").reindex(rows, columns=columns)
    # Light colours only, so that the numbers are read on each.
    axes.imshow(means.to_numpy(dtype=float), cmap="Blues", aspect="auto", alpha=0.6)
    for (row, column), mean in np.ndenumerate(means.to_numpy(dtype=float)):
        said = printed.iat[row, column]
        text = "not run" if np.isnan(mean) else f"{mean:.3f}"
        axes.text(column, row, text + ("" if pd.isna(said) else f"\n({said:g})"),
                  ha="center", va="center")  # fmt: skip
    axes.set_xticks(range(len(columns)), columns)
    axes.set_yticks(range(len(rows)), rows)
    axes.set_xlabel(_AXIS_TITLES.get(x, x.replace("_", " ")))
    axes.set_ylabel(_AXIS_TITLES.get(y, y.replace("_", " ")))
    axes.set_title(MEASURES[frame["measure"].iloc[0]].title, fontsize="medium")


def _title(frame: pd.DataFrame, paper: Paper, name: str, config: Config) -> str:
    confidence = f"{config.bootstrap.confidence * 100:g}%"
    title = paper.artefacts[name].title
    number = name.removeprefix("figure")
    spread = f"bars: {confidence} intervals over questions and {len(config.seeds)} seeds"
    if paper.artefacts[name].y:
        spread = f"means over {len(config.seeds)} seeds"
    lines = [
        title if paper.paper == OWN else f"Figure {number} of {paper.paper}: {title}",
        f"test split; {spread}",
    ]
    if not config.comparable and frame["published"].notna().any():
        lines.append(OTHER_DATA)
    return "\n".join(lines)
