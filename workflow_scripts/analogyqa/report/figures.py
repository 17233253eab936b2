"""The figures of a paper and of its studies: curves, heat maps, bars, and rows of intervals."""

import textwrap
from itertools import cycle
from math import ceil

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analogyqa.cells import cells_by_hyperparameters, why_no_run
from analogyqa.evaluation.claims import effect_text
from analogyqa.evaluation.published import join_published
from analogyqa.evaluation.summary import FIGURE, Results, cell_columns, to_frame
from analogyqa.evaluation.verdicts import NOT_RUN, OTHER_DATA
from analogyqa.measures import MEASURES
from analogyqa.report.sensitivity import shown_rows, variation_name
from analogyqa.report.studies import EVERY, POOLED, title_with_count
from analogyqa.report.style import (
    BAND,
    COLOURS,
    INK,
    LETTERS_PER_INCH,
    PUBLISHED,
    Files,
    Look,
    line_style,
    line_styles,
    own_style,
    save_figure,
    system_style,
)
from analogyqa.report.tables import heading, percent
from analogyqa.settings.artefacts import Artefact
from analogyqa.settings.coordinates import SCORE, Coordinates
from analogyqa.settings.overrides import as_text
from analogyqa.settings.paper import Paper
from analogyqa.settings.run import Config
from analogyqa.settings.studies import CrossValidation, Sensitivity

# The labels of axes; others are labelled with their names.
_AXIS_TITLES = {
    "p": "number of prototypes p of each question type",
    "sentence_dim": "dimensions of the sentence vector",
    "train_share": "share of the training questions",
}
# The columns of points while they are joined to the summary.
_JOINED = FIGURE | dict.fromkeys(["overrides", "substitute", "verdict"], "str")

LETTERS_OF_HEIGHT = 36  # of text along the height of a panel
MOST_TICKS = 20  # that fit on an axis


def build_figure(paper: Paper, name: str, results: Results, config: Config) -> pd.DataFrame:
    """Return the data of a figure: columns FIGURE, a row for each panel, line and point.

    `published` is what the tables of the paper print at the same coordinates. The point at which a
    line is highest, by the paper's text, has a row even if the run has no such point.
    """
    artefact = paper.artefacts[name]
    best = {(number.row, number.column): number.published for number in artefact.numbers()}
    ((x, printed),) = artefact.x.items()
    in_run = {as_text(point): point for point in config.sweeps.get(x, printed)}
    points = in_run | {as_text(p): p for p in printed if as_text(p) not in in_run}
    rows = []
    for panel, line, point, at in artefact.points(config.sweeps | {x: [*points.values()]}):
        x_text = as_text(point[x])
        is_best = (line, panel) in best and x_text == as_text(best[line, panel])
        if x_text not in in_run and not is_best:
            continue
        row = {key: getattr(at, key) for key in ("system", "dataset", "subset", "measure")}
        row |= {"panel": panel, "line": line, "published": paper.published_at(at), "x": x_text}
        row["y"] = "".join(as_text(point[y]) for y in artefact.y)
        row["reason"] = why_no_run(at, config) if x_text in in_run else "not shown here"
        if not row["reason"]:
            row |= cell_columns(next(iter(cells_by_hyperparameters(at, config).values())))
        if row["published"] is None and is_best:
            # Tables print the best value without naming the point, which is the configured one.
            configured = at.model_dump(exclude_unset=True, exclude={x})
            row["published"] = paper.published_at(Coordinates(**configured))
        rows.append(row)
    return join_published(to_frame(rows, _JOINED), results.summary)[list(FIGURE)]


def draw_figure(frame: pd.DataFrame, paper: Paper, name: str, config: Config, files: Files) -> None:
    """Draw a figure, columns FIGURE, with its panels side by side; equal data give equal bytes."""
    artefact = paper.artefacts[name]
    if not config.comparable:
        frame = frame.assign(published=np.nan)
        artefact = artefact.model_copy(update={"references": {}})
    # More lines need a wider panel and a higher legend; a heat map has a number in each tile.
    width = 4.8 if len(artefact.panels) == 1 else 3.6
    width = max(width, (0.7 if artefact.y else 0.1 * len(artefact.lines)) * frame["x"].nunique())
    height = 4 + 0.2 * max(len(artefact.lines), frame["y"].nunique())
    with own_style():
        size = (1.6 + width * len(artefact.panels), height)
        figure = Figure(size, layout="constrained")
        # Panels of the same measures are compared.
        measures = frame.groupby("panel")["measure"].agg(frozenset)
        is_shared = not artefact.y and measures.nunique() == 1
        panels = figure.subplots(ncols=len(artefact.panels), sharey=is_shared, squeeze=False)
        for axes, panel in zip(panels.flat, artefact.panels, strict=True):
            part = frame[frame["panel"] == panel]
            measure = MEASURES[part["measure"].iloc[0]].title
            # The label of the axis names the measure, so a panel that only gives it has no title.
            title = panel if artefact.panels[panel].model_fields_set - {"measure"} else ""
            if artefact.stacked:
                _draw_bars(axes, part)
                _rotate_long_labels(axes, list(part["x"].unique()))
                title = title or panel
            elif artefact.y:
                _draw_heat_map(axes, part, artefact)
                title = ": ".join(filter(None, [title, measure]))
            else:
                _draw_lines(axes, part, artefact, paper, config)
                axes.set_ylabel("\n".join(textwrap.wrap(measure, LETTERS_OF_HEIGHT)))
            if is_shared:
                axes.label_outer()
            lines = textwrap.wrap(title, int(width * LETTERS_PER_INCH))
            axes.set_title("\n".join(lines), fontsize="medium")
        seeds = seed_counts(frame)
        spread = f"bars: {percent(config)} intervals over questions and {seeds} seeds"
        if artefact.y or artefact.stacked:
            spread = f"means over {seeds} seeds"
        title_lines = [heading(paper, name, artefact.title), f"test split; {spread}"]
        is_comparable = all(map(config.is_comparable, frame["dataset"].unique()))
        title_lines += [] if is_comparable else [OTHER_DATA]
        save_figure(figure, "\n".join(title_lines), files)


def _draw_lines(
    axes: Axes, frame: pd.DataFrame, artefact: Artefact, paper: Paper, config: Config
) -> None:
    """Draw our values and the published ones of each line."""
    (x,) = artefact.x
    labels_of_x = {name: name for name in frame["x"].unique()}
    if x == "system":
        titles = {name: name for name in config.left_out}
        titles |= {name: system.title for name, system in config.systems.items()}
        configured = {name: titles[name] for name in labels_of_x if name in titles}
        labels_of_x = configured or labels_of_x
        frame = frame[frame["x"].isin(list(labels_of_x))]
    positions, are_numbers = _x_positions(list(labels_of_x))
    ticks = list(positions.values())
    axes.set_xticks(ticks, [labels_of_x[name] for name in positions])
    _rotate_long_labels(axes, list(labels_of_x.values()))
    lines = list(frame.groupby("line", sort=False))
    span, gap = (ticks[-1] - ticks[0], min(np.diff(ticks))) if len(ticks) > 1 else (1, 1)
    # Lines are shifted sideways, so that their intervals do not hide each other.
    step = min(0.015 * span, 0.8 * gap / len(lines))
    styles = line_styles([part["system"].iloc[0] for _, part in lines], paper.paper, config)
    for index, ((line, part), style) in enumerate(zip(lines, styles, strict=True)):
        x_values = part["x"].map(positions) + (index - (len(lines) - 1) / 2) * step
        ours, printed = part.dropna(subset="mean"), part.dropna(subset="published")
        # The published value is labelled with the paper's name for its data: ours may differ.
        dataset = config.datasets.get(artefact.lines[line].dataset)
        is_dataset = artefact.lines[line].model_fields_set == {"dataset"}
        if len(ours):
            axes.errorbar(
                x_values[ours.index],
                ours["mean"],
                yerr=[ours["mean"] - ours["ci_low"], ours["ci_high"] - ours["mean"]],
                **style,
                capsize=4,
                elinewidth=1,
                linestyle="-" if are_numbers else "none",
                label=dataset.title if dataset and is_dataset else line,
            )
        if len(printed):
            axes.plot(
                x_values[printed.index],
                printed["published"],
                linestyle="none",
                **style,
                markersize=11,
                markerfacecolor="none",
                label=line + PUBLISHED,
            )
    for index, (name, value) in enumerate(artefact.references.items()):
        dashes = (0, (1 + 3 * index, 2))
        axes.axhline(value, color=INK, linestyle=dashes, label=name + PUBLISHED)
    if frame["mean"].isna().all():
        # The middle may have a single published value.
        axes.text(0.5, 0.8, NOT_RUN, transform=axes.transAxes, ha="center")
    axes.set_xlabel(_axis_title(x))
    margin = 0.05 * span + step * len(lines)
    axes.set_xlim(ticks[0] - margin, ticks[-1] + margin)
    axes.grid(axis="y")


def _x_positions(names: list[str]) -> tuple[dict[str, float], bool]:
    """Return positions on the x axis, equally spaced if needed, and whether they are numbers."""
    try:
        positions = {name: float(name) for name in sorted(names, key=float)}
    except ValueError:
        return {name: float(index) for index, name in enumerate(names)}, False
    ticks = list(positions.values())
    if len(ticks) > 1 and min(np.diff(ticks)) < (ticks[-1] - ticks[0]) / MOST_TICKS:
        positions = {name: float(index) for index, name in enumerate(positions)}
    return positions, True


def _rotate_long_labels(axes: Axes, names: list[str]) -> None:
    figure = axes.get_figure()
    width = 0.75 * figure.get_figwidth() / len(figure.axes) / len(names)
    if max(map(len, names)) > width * LETTERS_PER_INCH:
        axes.tick_params(axis="x", labelrotation=30)
        for label in axes.get_xticklabels():
            label.set_horizontalalignment("right")


def _axis_title(name: str) -> str:
    return _AXIS_TITLES.get(name, name.replace("_", " "))


def _draw_bars(axes: Axes, frame: pd.DataFrame) -> None:
    """Draw a stacked bar for each point of x, the first line, with its values, at the bottom."""
    points, lines = list(frame["x"].unique()), list(frame["line"].unique())
    means = frame.pivot(index="line", columns="x", values="mean").reindex(lines, columns=points)
    bottom = np.zeros(len(points))
    for line, colour in zip(lines, cycle(COLOURS), strict=False):
        part = means.loc[line].fillna(0).to_numpy()
        axes.bar(points, part, bottom=bottom, color=colour, label=line)
        bottom += part
    for position, share in enumerate(means.iloc[0]):
        text = NOT_RUN if pd.isna(share) else f"{share:.2f}"
        colour = INK if pd.isna(share) else "white"
        axes.text(position, 0.01, text, ha="center", va="bottom", fontsize="small", color=colour)
    axes.set_ylim(0, 1)
    axes.set_ylabel("share of the analogies")


def _draw_heat_map(axes: Axes, frame: pd.DataFrame, artefact: Artefact) -> None:
    """Draw a tile for each pair of points, with our mean and, below it, the published value."""
    (x,), (y,) = artefact.x, artefact.y
    columns, rows = list(frame["x"].unique()), list(frame["y"].unique())
    means = frame.pivot(index="y", columns="x", values="mean").reindex(rows, columns=columns)
    low, high = frame["mean"].min(), frame["mean"].max()
    # Only colours that differ from white, and on which black numbers can be read.
    limits = {"vmin": low - (high - low) / 2, "vmax": high + (high - low)}
    axes.imshow(means.to_numpy(dtype=float), cmap="Blues", aspect="auto", **limits)
    for row in frame.to_dict("records"):
        text = NOT_RUN if pd.isna(row["mean"]) else f"{row['mean']:.3f}"
        text += "" if pd.isna(row["published"]) else f"\n({row['published']:g})"
        position = columns.index(row["x"]), rows.index(row["y"])
        colour = INK if pd.isna(row["mean"]) else "black"
        axes.text(*position, text, ha="center", va="center", color=colour)
    axes.set_xticks(range(len(columns)), columns)
    axes.set_yticks(range(len(rows)), rows)
    _rotate_long_labels(axes, columns)
    axes.set_xlabel(_axis_title(x))
    axes.set_ylabel(_axis_title(y))


def seed_counts(frame: pd.DataFrame) -> str:
    """Return how many seeds the rows of a figure have."""
    return " or ".join(map(str, sorted(frame["n_seeds"].dropna().unique()))) or "no"


LABEL_WIDTH, SIDE_WIDTH = 32, 24  # characters
FOREST_WIDTH = 7.5  # inches
MOST_BESIDE = 3  # panels
NEITHER: Look = {"color": INK, "marker": "o"}  # of two systems ranks better
# The columns that a plot need not have, with what they then are: a second interval.
OPTIONAL = {"thick_low": None, "thick_high": None}


def draw_cross_validation(
    frame: pd.DataFrame, config: Config, study: CrossValidation, files: Files
) -> None:
    """Draw the main measure of every system, from columns CROSS_VALIDATION."""
    measure = study.measures[0]
    rows = frame[(frame["measure"] == measure) & (frame["origin"] == EVERY)]
    rows = rows.assign(
        label=[config.systems[name].title for name in rows["system"]],
        look=[
            system_style(name, paper, config)
            for name, paper in zip(rows["system"], rows["paper"], strict=True)
        ],
        point=rows["mean"],
        low=rows["run_low"],
        high=rows["run_high"],
        thick_low=rows["ci_low"],
        thick_high=rows["ci_high"],
        text=rows["mean"].map("{:.3f}".format),
    )
    heading = [
        f"Cross-validation: all questions of {study.subset}, in {study.folds} folds",
        f"thick: {percent(config)} intervals over questions and {seed_counts(rows)} seeds; "
        "thin: prediction intervals of one more run",
    ]
    _draw(rows, ["system"], MEASURES[measure].title, heading, config, files)


def draw_pairs(frame: pd.DataFrame, config: Config, files: Files) -> None:
    """Draw the difference of every pair on all questions, from columns PAIRS."""
    rows = frame[frame["by"] == EVERY]
    titles = {name: system.title for name, system in config.systems.items()}
    rows = rows.assign(
        label=rows["first"].map(titles) + "\nagainst " + rows["second"].map(titles),
        look=[_better_style(row, config) for row in rows.to_dict("records")],
        point=rows["difference"],
        text=rows["difference"].map("{:+.3f}".format),
    )
    heading = [
        "Pairs of cross-validated systems on all questions",
        f"{percent(config)} intervals over questions and seeds, in the colour of the system that "
        "ranks better; grey: contains zero",
    ]
    x_label = f"{MEASURES[rows['measure'].iloc[0]].short}: first minus second"
    _draw(rows, ["pair"], x_label, heading, config, files, is_difference=True)


def _better_style(row: dict, config: Config) -> Look:
    """Return the style of the system of a pair that ranks better, grey if neither."""
    better = row["first"] if row["low"] > 0 else row["second"] if row["high"] < 0 else None
    return system_style(better, row["paper"], config) if better else NEITHER


def draw_forest(frame: pd.DataFrame, paper: Paper, config: Config, files: Files) -> None:
    """Draw the primary pairs on each data set, and pooled, from columns PAIRS.

    Each pair has a panel, with the rows of a meta-analysis; equal data give equal bytes.
    """
    study, pairs = config.studies[paper.paper].cross_validation, paper.primary_pairs(config)
    assert study  # it has the pairs
    frame = frame[frame["by"] == EVERY]
    parts = {name: frame[frame["pair"] == name].set_index("dataset") for name in pairs}
    margins = [margin for by_dataset in pairs.values() for margin in by_dataset.values() if margin]
    ends = pd.concat(list(parts.values()))[["low", "high"]].abs().stack().dropna()
    reach = 1.05 * max([0.05, *ends, *margins])
    heights = [len({*pairs[name], *part.index}) + 1 for name, part in parts.items()]
    with own_style():
        height = 1.6 + sum(0.3 * rows + 0.5 for rows in heights)
        figure = Figure((FOREST_WIDTH, height), layout="constrained")
        panels = figure.subplots(len(pairs), sharex=True, squeeze=False, height_ratios=heights)
        for axes, (name, part) in zip(panels.flat, parts.items(), strict=True):
            # Data sets that are left out have a row, too; the pooled ones are last.
            part = part.reindex(dict.fromkeys([*pairs[name], *part.index])).reset_index()
            titles = [config.systems[system].title for system in study.pairs[name]]
            _draw_forest_panel(axes, part, titles, pairs[name], config)
        panels[0, 0].set_xlim(-reach, reach)
        panels[-1, 0].set_xlabel(f"difference in {MEASURES[study.measures[0]].short}")
        title = [
            "Pairs of cross-validated systems in the primary claims, on each data set and pooled",
            f"{percent(config)} intervals over questions and seeds, in the colour of the system "
            "that ranks better; area of a square: its weight, the inverse of the variance",
            *(["shaded: within the equivalence margin"] if margins else []),
            *([] if config.comparable else [OTHER_DATA]),
        ]
        save_figure(figure, "\n".join(title), files)


def _draw_forest_panel(
    axes: Axes,
    part: pd.DataFrame,
    titles: list[str],
    margins: dict[str, float | None],
    config: Config,
) -> None:
    """Draw a pair: a square for each data set, a diamond for the pooled ones.

    `part` has the columns PAIRS, and `titles` are those of both systems.
    """
    beside = {"transform": axes.get_yaxis_transform(), "va": "center", "fontsize": "small"}
    smallest_error = part.loc[part["dataset"] != POOLED, "error"].min()
    for height, row in enumerate(part.to_dict("records")):
        if margin := margins.get(row["dataset"]):
            axes.barh(height, 2 * margin, 1, -margin, zorder=0, **BAND)
        if pd.isna(row["difference"]):
            continue
        low, middle, high = row["low"], row["difference"], row["high"]
        colour = _better_style(row, config)["color"]
        if row["dataset"] == POOLED:
            corners = height + np.array([0, -0.3, 0, 0.3])
            axes.fill([low, middle, high, middle], corners, color=colour)
            test = f"equal on all: p = {row['heterogeneity']:.2g}"
            axes.text(1.02, height + 1, f"{test} (Cochran)", **beside)
        else:
            axes.plot([low, high], [height, height], color=colour, linewidth=1.2)
            area = 120 * (smallest_error / row["error"]) ** 2
            axes.scatter(middle, height, area, colour, marker="s")
        axes.text(1.02, height, effect_text(middle, row, SCORE), **beside)
    side = {"textcoords": "offset points", "va": "center", "fontsize": "small"}
    first, second = (textwrap.fill(f"{title} ranks better", SIDE_WIDTH) for title in titles)
    axes.annotate(f"{first} →", (0, len(part)), (6, 0), ha="left", **side)
    axes.annotate(f"← {second}", (0, len(part)), (-6, 0), ha="right", **side)
    axes.axvline(0, color=INK, linewidth=0.8)
    axes.grid(axis="x")
    axes.set_title(" against ".join(titles), fontsize="medium")
    labels = [title_with_count(part.iloc[[place]], config) for place in range(len(part))]
    axes.set_yticks(range(len(part)), labels, fontsize="small")
    axes.set_ylim(len(part) + 0.6, -0.6)


def draw_sensitivity(frame: pd.DataFrame, config: Config, study: Sensitivity, files: Files) -> None:
    """Draw the effect in every variation, from columns SENSITIVITY; a node is a data set.

    The effect is the difference between the first two systems. Of a single system, it is the
    change of the mean, and the verdict is that on its published value. Equal data give equal bytes.
    """
    keys, titles = ["choice", "value"], [config.systems[name].title for name in study.systems]
    rows = shown_rows(frame, study).drop_duplicates(["dataset", *keys])
    if len(titles) < 2:
        rows = rows.assign(difference=rows["difference_to_paper"], verdict=rows["mark"])
    rows = rows.assign(height=rows.groupby(keys, sort=False).ngroup())
    names = rows.drop_duplicates("height")
    parts = list(rows.groupby("dataset", sort=False))
    with own_style():
        figure = Figure((FOREST_WIDTH, 2 + 0.24 * len(names)), layout="constrained")
        axes = figure.subplots()
        axes.axvline(0, color=INK, linewidth=0.8)
        for place, (_, part) in enumerate(names.groupby("choice", sort=False)):
            if place % 2:
                axes.axhspan(min(part["height"]) - 0.5, max(part["height"]) + 0.5, zorder=0, **BAND)
        for place, (_, part) in enumerate(parts):
            _draw_nodes(
                axes, part, (place - (len(parts) - 1) / 2) * 0.6 / len(parts), place, config
            )
        counts = rows.groupby("height")["difference"].count()
        for height in counts.index[counts.eq(0)] if parts else [0]:
            axes.text(0, height, NOT_RUN, va="center", fontsize="small")
        labels = list(map(variation_name, names["choice"], names["value"]))
        axes.set_yticks(range(len(names)), labels, fontsize="small")
        axes.set_ylim(max(1, len(names)) - 0.4, -0.6)
        axes.grid(axis="x")
        measures = " or ".join(dict.fromkeys(MEASURES[name].short for name in rows["measure"]))
        axes.set_xlabel(f"{' minus '.join(titles[:2]) if titles[1:] else 'change'}, {measures}")
        heading = [
            "Open choices, each varied alone, the rest as in the paper",
            f"{study.subset}, test split; filled: another verdict than in the first row",
        ]
        if titles[1:]:
            heading.append(f"lines: {percent(config)} intervals over questions and seeds")
        save_figure(
            figure, "\n".join([*heading, *([] if config.comparable else [OTHER_DATA])]), files
        )


def _draw_nodes(axes: Axes, part: pd.DataFrame, aside: float, place: int, config: Config) -> None:
    """Draw the effects on one data set, some rows `aside`; the first is at the paper's."""
    look, heights, first = line_style(place), part["height"] + aside, part["verdict"].iloc[0]
    axes.hlines(heights, part["low"], part["high"], look["color"], linewidth=1, alpha=0.5)
    flips = part["verdict"].ne(first) & (first not in ("", NOT_RUN))
    nodes = {**look, "linestyle": "none", "markersize": 6}
    label = title_with_count(part, config)
    axes.plot(part["difference"].mask(flips), heights, **nodes, mfc="none", label=label)
    axes.plot(part["difference"].where(flips), heights, **nodes)


def _draw(
    frame: pd.DataFrame,
    keys: list[str],
    x_label: str,
    heading: list[str],
    config: Config,
    files: Files,
    is_difference: bool = False,
) -> None:
    """Draw a panel for each data set, at most MOST_BESIDE of them side by side.

    `frame` has a line for each data set and row, with the columns `dataset`, `n_items`, `label`,
    `look` (its style), `point`, `low`, `high` and `text`, and any of OPTIONAL; `keys` identify a
    row. All panels have one scale; zero is drawn if it `is_difference`. Equal data give equal
    bytes.
    """
    frame = frame.assign(row=frame.groupby(keys, sort=False).ngroup())
    frame = frame.assign(**{name: OPTIONAL[name] for name in OPTIONAL if name not in frame})
    labels = [
        "\n".join(part for line in label.split("\n") for part in textwrap.wrap(line, LABEL_WIDTH))
        for label in frame.drop_duplicates("row")["label"]
    ]
    parts = [part for _, part in frame.groupby("dataset", sort=False)]
    n_panels = max(1, len(parts))
    lines = ceil(n_panels / MOST_BESIDE)
    columns = ceil(n_panels / lines)
    height = 0.9 + lines * (1 + sum(0.36 + 0.16 * label.count("\n") for label in labels))
    with own_style():
        figure = Figure((max(6.5, 2.4 + 2.2 * columns), height))
        figure.set_layout_engine("constrained", h_pad=0.1)
        panels = figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False)
        for axes in panels.flat[n_panels:]:
            axes.set_visible(False)
        first = panels[0, 0]
        if not parts:
            first.text(0.5, 0.5, NOT_RUN, transform=first.transAxes, ha="center")
        for axes, part in zip(panels.flat, parts, strict=False):
            _draw_panel(axes, part)
            axes.set_title(title_with_count(part, config), fontsize="medium")
            axes.set_xlabel(x_label)
            axes.tick_params(axis="x", labelbottom=True)
            axes.tick_params(axis="y", labelsize="small")
            axes.grid(axis="x")
            axes.locator_params(axis="x", nbins=4)
            if is_difference:
                axes.axvline(0, color=INK, linewidth=0.8)
        first.set_yticks(range(len(labels)), labels)
        first.set_ylim(len(labels) - 0.4, -0.7)
        title = heading if config.comparable else [*heading, OTHER_DATA]
        save_figure(figure, "\n".join(title), files)


def _draw_panel(axes: Axes, part: pd.DataFrame) -> None:
    """Draw one data set: its rows, with their intervals."""
    for line in part.to_dict("records"):
        look, at = line["look"], (line["point"], line["row"])
        if pd.isna(line["point"]):
            axes.text(
                0.5,
                line["row"],
                NOT_RUN,
                va="center",
                ha="center",
                fontsize="small",
                transform=axes.get_yaxis_transform(),
            )
            continue
        if pd.notna(line["thick_low"]):
            thick = [line["thick_low"], line["thick_high"]]
            axes.plot(thick, [line["row"]] * 2, color=look["color"], linewidth=5, alpha=0.35)
        bars = {"xerr": [[line["point"] - line["low"]], [line["high"] - line["point"]]]}
        axes.errorbar(*at, **bars, **look, markersize=5, capsize=2, elinewidth=1.2)
        above = {"textcoords": "offset points", "ha": "center", "fontsize": "small"}
        axes.annotate(line["text"], at, (0, 6), **above)
