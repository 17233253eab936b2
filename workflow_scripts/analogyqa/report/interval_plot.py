"""One plot for all studies: a panel for each data set, with values and intervals in its rows."""

import textwrap
from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analogyqa.evaluation.claims import FAILS, HOLDS
from analogyqa.evaluation.verdicts import NOT_RUN, OTHER_DATA
from analogyqa.measures import MEASURES
from analogyqa.report.cross_validation import EVERY, title_with_count
from analogyqa.report.figures import (
    COLOURS,
    PUBLISHED,
    line_style,
    own_style,
    save_figure,
    seed_counts,
)
from analogyqa.report.sensitivity import NO_EFFECT, variation_name
from analogyqa.report.table_notes import percent
from analogyqa.settings.run import Config
from analogyqa.settings.studies import CrossValidation, Sensitivity

LABEL_WIDTH = 50  # characters
# The columns that a plot need not have, with what they then are: the name of the system in the
# legend, the interval of one more run, the text above a value, whether its mark is hollow, the
# verdict beside a row, a published value, and the group of a row, shown by the background.
OPTIONAL = {
    "series": "",
    "run_low": None,
    "run_high": None,
    "text": "",
    "is_hollow": False,
    "verdict": "",
    "published": None,
    "band": "",
}
Files = dict[str, str | Path]  # the paths by format (png, svg)


def draw_cross_validation(
    frame: pd.DataFrame, config: Config, study: CrossValidation, files: Files
) -> None:
    """Draw the main measure of every system, from columns CROSS_VALIDATION."""
    measure = study.measures[0]
    rows = frame[(frame["measure"] == measure) & (frame["origin"] == EVERY)]
    rows = rows.assign(
        label=[config.systems[name].title for name in rows["system"]],
        look=rows["system"].eq(study.systems[0]).astype(int),  # the others are compared with it
        point=rows["mean"],
        low=rows["ci_low"],
        high=rows["ci_high"],
        text=rows["mean"].map("{:.3f}".format),
    )
    heading = [
        f"Cross-validation: all questions of {study.subset}, in {study.folds} folds",
        f"thin: {percent(config)} intervals over questions and {seed_counts(rows)} seeds; "
        "thick: prediction intervals of one more run",
    ]
    _draw(rows, ["system"], MEASURES[measure].title, heading, config, files)


def draw_pairs(frame: pd.DataFrame, config: Config, files: Files) -> None:
    """Draw the difference of every pair on all questions, from columns PAIRS."""
    rows = frame[frame["by"] == EVERY]
    titles = {name: system.title for name, system in config.systems.items()}
    rows = rows.assign(
        label=rows["first"].map(titles) + "\nagainst " + rows["second"].map(titles),
        look=((rows["low"] > 0) | (rows["high"] < 0)).astype(int),
        point=rows["difference"],
        text=rows["difference"].map("{:+.3f}".format),
    )
    heading = [
        "Pairs of cross-validated systems on all questions",
        f"{percent(config)} intervals over questions and seeds; orange: without zero",
    ]
    x_label = f"{MEASURES[rows['measure'].iloc[0]].short}: first minus second"
    _draw(rows, ["pair"], x_label, heading, config, files, is_difference=True)


def draw_sensitivity(frame: pd.DataFrame, config: Config, study: Sensitivity, files: Files) -> None:
    """Draw every system in every variation, from columns SENSITIVITY."""
    rows = frame[frame["measure"] == study.measure]
    titles = {name: config.systems[name].title for name in study.systems}
    rows = rows.assign(
        label=list(map(variation_name, rows["choice"], rows["value"])),
        look=rows["system"].map(study.systems.index),
        series=rows["system"].map(titles),
        point=rows["mean"],
        low=rows["ci_low"],
        high=rows["ci_high"],
        run_low=None,
        is_hollow=rows["reason"] == NO_EFFECT,
        band=rows["choice"],
    )
    heading = [
        "Open choices, each varied alone, the rest as in the paper",
        "first row and faint lines: the paper's hyperparameters",
        f"{study.subset}, test split; bars: {percent(config)} intervals over questions and "
        f"{seed_counts(rows)} seeds",
        "hollow: changes nothing in this system",
    ]
    if len(titles) > 1:
        first, second = list(titles.values())[:2]
        heading.append(f"right: the claim that {first} ranks better than {second}")
    _draw(rows, ["choice", "value"], MEASURES[study.measure].title, heading, config, files)


def _draw(
    frame: pd.DataFrame,
    keys: list[str],
    x_label: str,
    heading: list[str],
    config: Config,
    files: Files,
    is_difference: bool = False,
) -> None:
    """Draw a panel for each data set, with the rows from top to bottom; equal data, equal bytes.

    `frame` has a line for each data set, row and series, with the columns `dataset`, `n_items`,
    `label`, `look` (the number of a line style), `point`, `low` and `high`, and any of OPTIONAL;
    `keys` identify a row. Zero is drawn, and all panels have one scale, if it `is_difference`.
    """
    frame = frame.assign(row=frame.groupby(keys, sort=False).ngroup())
    frame = frame.assign(**{name: OPTIONAL[name] for name in OPTIONAL if name not in frame})
    labels = [
        "\n".join(part for line in label.split("\n") for part in textwrap.wrap(line, LABEL_WIDTH))
        for label in frame.drop_duplicates("row")["label"]
    ]
    parts = [part for _, part in frame.groupby("dataset", sort=False)]
    columns = max(1, len(parts))
    height = 1.9 + sum(0.36 + 0.16 * label.count("\n") for label in labels)
    with own_style():
        figure = Figure((3 + 4 * columns, height), layout="constrained")
        panels = figure.subplots(ncols=columns, sharex=is_difference, sharey=True, squeeze=False)
        first = panels[0, 0]
        if not parts:
            first.text(0.5, 0.5, NOT_RUN, transform=first.transAxes, ha="center")
        for axes, part in zip(panels.flat, parts, strict=False):
            _draw_panel(axes, part)
            count = part.drop_duplicates("series")["published"].notna().sum()
            pad = 6 + 9 * (count - (count > 1))  # points, for the published values
            axes.set_title(title_with_count(part, config), fontsize="medium", pad=pad)
            axes.set_xlabel(x_label)
            axes.grid(axis="x", alpha=0.3)
            if is_difference:
                axes.axvline(0, color="black", linewidth=0.8)
        first.set_yticks(range(len(labels)), labels, fontsize="small")
        first.set_ylim(len(labels) - 0.4, -0.7)
        title = heading if config.comparable else [*heading, OTHER_DATA]
        save_figure(figure, "\n".join(title), files)


def _draw_panel(axes: Axes, part: pd.DataFrame) -> None:
    """Draw one data set: its rows, and the published values above them."""
    bands = list(part["band"].unique())
    rows_as_height = axes.get_yaxis_transform()
    for row, lines in part.groupby("row"):
        band, verdict = lines.iloc[0][["band", "verdict"]]
        if bands.index(band) % 2:
            axes.axhspan(row - 0.5, row + 0.5, color="0.95", linewidth=0, zorder=0)
        # A verdict has the colour of the system that it finds better.
        colour = {HOLDS: COLOURS[0], FAILS: COLOURS[1]}.get(verdict, "0.5")
        beside = {"transform": rows_as_height, "va": "center", "fontsize": "small"}
        axes.text(1.02, row, verdict, color=colour, **beside)
        if not verdict and lines["point"].isna().all():
            axes.text(0.5, row, NOT_RUN, ha="center", **beside)
    count = part["series"].nunique()
    for number, (series, lines) in enumerate(part.groupby("series", sort=False)):
        aside = (number - (count - 1) / 2) * 0.72 / count
        _draw_series(axes, lines.assign(row=lines["row"] + aside), str(series))
    published = part.drop_duplicates("series").dropna(subset="published").sort_values("published")
    for order, line in enumerate(published.to_dict("records")):
        axes.annotate(
            f"{line['published']:g}",
            (line["published"], 1),
            # The lowest is written to the left of its line, so that none overlap.
            (-2 if order == 0 else 2, 2 + 9 * max(0, order - 1)),
            xycoords=axes.get_xaxis_transform(),
            textcoords="offset points",
            ha="right" if order == 0 else "left",
            fontsize="small",
            color=line_style(line["look"])["color"],
        )


def _draw_series(axes: Axes, lines: pd.DataFrame, series: str) -> None:
    """Draw the values of a series, and lines at its first and at its published value."""
    first = lines.iloc[0]
    colour = line_style(first["look"])["color"]
    if series and pd.notna(first["point"]):
        axes.axvline(first["point"], color=colour, linewidth=1, alpha=0.35, zorder=1)
    if pd.notna(first["published"]):
        dashed = {"linestyle": (0, (5, 3)), "linewidth": 1.2, "zorder": 1}
        axes.axvline(first["published"], color=colour, label=series + PUBLISHED, **dashed)
    for line in lines.dropna(subset="point").to_dict("records"):
        style, at = line_style(line["look"]), (line["point"], line["row"])
        if pd.notna(line["run_low"]):
            run = [line["run_low"], line["run_high"]]
            axes.plot(run, [line["row"]] * 2, color=style["color"], linewidth=5, alpha=0.35)
        bars = {"xerr": [[line["point"] - line["low"]], [line["high"] - line["point"]]]}
        face = "white" if line["is_hollow"] else style["color"]
        sizes = {"markersize": 5, "capsize": 2, "elinewidth": 1.2}
        axes.errorbar(*at, **bars, markerfacecolor=face, **style, **sizes, label=series or None)
        above = {"textcoords": "offset points", "ha": "center", "fontsize": "small"}
        axes.annotate(line["text"], at, (0, 6), **above)
        series = ""  # one entry of the legend
