"""The curves of a paper against the number of prototypes, with the published values."""

from itertools import product
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from analogyqa.files import atomic_path
from analogyqa.report.ledger import OTHER_DATA
from analogyqa.report.summary import MEASURED, by_cell, typed
from analogyqa.settings.paper import Paper, Where
from analogyqa.settings.run import Config

FIGURE = {
    "dataset": "str",
    "metric": "str",
    "p": "Int64",
    **MEASURED,
    "published": "float64",
    "provenance": "str",
}
MEASURE_TITLES = {"map": "Mean average precision", "mrr": "Mean reciprocal rank"}

PUBLISHED = ", published"

# Okabe and Ito's palette: told apart with any colour vision; the markers tell them apart in print.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
MARKERS = ("o", "s", "^", "D", "v", "P")
STYLE = {"svg.hashsalt": "analogyqa", "axes.spines.top": False, "axes.spines.right": False}


def build_figure(paper: Paper, name: str, summary: pd.DataFrame, config: Config) -> pd.DataFrame:
    """Return the data of a figure: columns FIGURE, a row for each metric, data set and p.

    The data sets of the paper come first, then the others that are configured. `published` is
    what the tables of the paper print for the same run, at the p that the paper calls the best; a
    row of it alone stands where the configured curve has no such p.
    """
    artefact = paper.artefacts[name]
    found = by_cell(summary)
    best = {(cell.column, cell.where.dataset): cell.published for cell in artefact.numbers()}
    in_paper = [dataset for dataset in _names(paper, name) if dataset in config.datasets]
    others = [dataset for dataset in config.datasets if dataset not in in_paper]
    rows = []
    for column, dataset in product(artefact.columns, in_paper + others):
        where = artefact.where(column=column).model_copy(update={"dataset": dataset})
        published = published_value(paper, where) if dataset in in_paper else None
        at = int(best[column, dataset]) if published is not None else None
        for p in sorted({*(config.prototypes.curve or [config.prototypes.p]), at} - {None}):
            run = found.get((where.model, dataset, where.subset, p, where.metric), {})
            row = {"dataset": dataset, "metric": where.metric, "p": p}
            row |= {"published": published if p == at else None}
            if run or p == at:
                rows.append(run | row)
    return typed(rows, FIGURE)


def draw_figure(
    frame: pd.DataFrame, paper: Paper, name: str, config: Config, files: dict[str, str | Path]
) -> None:
    """Draw a figure from its data, a panel for each metric; the same bytes for the same data.

    Args:
        frame: as `build_figure` returns it.
        paper, name: give the title.
        config: the titles of the data sets, and what the intervals are.
        files: format (png, svg) to path.
    """
    artefact = paper.artefacts[name]
    metrics = [artefact.where(column=column).metric for column in artefact.columns]
    with plt.rc_context(STYLE):
        figure, panels = plt.subplots(
            ncols=len(metrics),
            figsize=(1.6 + 4.8 * len(metrics), 4.4),
            layout="constrained",
            squeeze=False,
        )
        entries = {}
        for axes, metric in zip(panels.flat, metrics, strict=True):
            _draw_panel(axes, frame[frame["metric"] == metric], _names(paper, name), config)
            axes.set_ylabel(MEASURE_TITLES[metric])
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


def _names(paper: Paper, name: str) -> dict[str, str]:
    """Return the data sets of a figure with the paper's names for them."""
    return {cell.where.dataset: cell.row for cell in paper.artefacts[name].numbers()}


def published_value(paper: Paper, where: Where) -> float | None:
    """Return the score that the first table of a paper which has it prints for a cell."""
    for artefact in paper.artefacts.values():
        for cell in artefact.numbers() if artefact.value == "score" else ():
            if cell.where == where:
                return cell.published
    return None


def _draw_panel(axes: plt.Axes, frame: pd.DataFrame, names: dict[str, str], config: Config) -> None:
    """Draw the curves of one metric."""
    curves = list(frame.groupby("dataset", sort=False))
    for index, (dataset, part) in enumerate(curves):
        # A little to the side, so that one interval does not hide the other.
        aside = (index - (len(curves) - 1) / 2) * 0.015 * (np.ptp(frame["p"]) or 1)
        # The published value is labelled with the paper's name for its data: ours may be others.
        labels = (config.datasets[dataset].title, names.get(dataset, "") + PUBLISHED)
        _draw_curve(axes, part, labels, index, aside)
    if frame["mean"].isna().all():
        # Above the middle, where a single published value is.
        axes.text(0.5, 0.8, "not run", transform=axes.transAxes, ha="center")
    axes.set_xlabel("number of prototypes p of each question type")
    axes.set_xticks(sorted(frame["p"].unique()))
    axes.margins(x=0.08)
    axes.grid(axis="y", alpha=0.3)


def _draw_curve(
    axes: plt.Axes, part: pd.DataFrame, labels: tuple[str, str], index: int, aside: float
) -> None:
    """Draw ours and the published values of one data set, `aside` of p, each with its label."""
    colour, marker = COLOURS[index % len(COLOURS)], MARKERS[index % len(MARKERS)]
    ours = part.dropna(subset="mean")
    if len(ours):
        mean = ours["mean"]
        spread = [mean - ours["ci_low"], ours["ci_high"] - mean]
        axes.errorbar(
            ours["p"].astype(int) + aside,
            mean,
            yerr=spread,
            color=colour,
            marker=marker,
            capsize=4,
            elinewidth=1,
            label=labels[0],
        )
    published = part.dropna(subset="published")
    if len(published):
        axes.plot(
            published["p"].astype(int) + aside,
            published["published"],
            linestyle="none",
            marker=marker,
            markersize=11,
            markerfacecolor="none",
            markeredgecolor=colour,
            label=labels[1],
        )


def _title(frame: pd.DataFrame, paper: Paper, name: str, config: Config) -> str:
    confidence = f"{config.bootstrap.confidence * 100:g}%"
    lines = [
        f"Figure {name.removeprefix('figure')} of {paper.paper}: {paper.artefacts[name].title}",
        f"test split; bars: {confidence} intervals over questions and {len(config.seeds)} seeds",
    ]
    if not config.comparable and frame["published"].notna().any():
        lines.append(OTHER_DATA)
    return "\n".join(lines)
