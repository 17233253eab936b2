"""What changes when a choice that the paper leaves open is taken otherwise."""

from collections.abc import Iterable
from itertools import product
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

from analogyqa.claims import CLAIM_MARKS, FAILS, HOLDS, UNDECIDED, Values, compare_runs, values_of
from analogyqa.config import PAPER, Cell, Config, join_id, sensitivity_cells
from analogyqa.figures import (
    COLOURS,
    MARKERS,
    MEASURE_TITLES,
    PUBLISHED,
    STYLE,
    finish,
    published_value,
)
from analogyqa.ledger import (
    DECIMALS,
    HIGHER,
    LOWER,
    MEASURED,
    NOT_RUN,
    OTHER_DATA,
    REPRODUCED,
    Paper,
    Where,
    by_cell,
    no_run,
    summarise_runs,
    typed,
    verdict,
)
from analogyqa.metrics import MEASURES
from analogyqa.significance import SAMPLES
from analogyqa.tables import MARKS, Block, Table, Value, full_text, to_markdown

SENSITIVITY = {
    "dataset": "str",
    "axis": "str",
    "value": "str",
    "metric": "str",
    "model": "str",
    **MEASURED,
    "difference_to_paper": "float64",
    "published": "float64",
    "difference": "float64",
    "p_greater": "float64",
    "p_less": "float64",
    "verdict": "str",
    "reason": "str",
}

# The page and the figure show the measure that the papers' claim is about.
_METRIC = "mrr"
_AT_PAPER = "paper's setting"
_SAME = "changes nothing in this system, whose run is that of the paper's setting"
_CLAIM = {HOLDS: "holds", FAILS: "fails", UNDECIDED: "is undecided"}


def build_sensitivity(
    papers: Iterable[Paper], config: Config, runs: Iterable[tuple[dict, pd.DataFrame]]
) -> pd.DataFrame:
    """Return every system at the paper's setting and at each variation of it: columns SENSITIVITY.

    There is a row for each data set, variation, metric and system, in the order of the
    configuration; the first variation, of axis `paper` and without value, is the paper's setting.

    `difference`, `p_greater`, `p_less` and `verdict` are of the first system against the second on
    the same questions, and stand on the rows of both. The claim that the first is better holds or
    fails where the two-sided p-value is below the complement of the configured confidence; it is
    not corrected for the number of variations.

    Args:
        papers: `published` is what the tables of the first paper that has it print; where the
            configuration's data are not the papers' there is none.
        config: the systems and the variations; `left_out` says why one was not run.
        runs: as `ledger.read_runs` yields them.

    Raises:
        AnalogyQAError: when two systems were run on other questions.
    """
    papers, runs = list(papers), list(runs)
    found, values = by_cell(summarise_runs(runs, config.bootstrap)), values_of(runs)
    cells, models = sensitivity_cells(config), config.sensitivity.models
    rows = []
    for dataset, (name, (axis, value)), metric in product(
        config.varied_datasets, _choices(config), MEASURES
    ):
        own = [cells.get((model, dataset, name)) for model in models]
        compared = _compare(own, metric, values, config)
        for model, cell in zip(models, own, strict=True):
            paper_cell = cells.get((model, dataset, PAPER))
            run, at_paper = (each and found.get((*each, metric)) for each in (cell, paper_cell))
            row = {"dataset": dataset, "axis": axis, "value": value}
            row |= {"metric": metric, "model": model, **compared}
            row["published"] = _printed(papers, config, model, dataset, metric)
            if run:
                row |= {column: run[column] for column in MEASURED}
                row["reason"] = _SAME if name != PAPER and cell == paper_cell else ""
            else:
                row["reason"] = no_run(cell) if cell else config.left_out[join_id(model, name)]
            if run and at_paper:
                row["difference_to_paper"] = round(run["mean"] - at_paper["mean"], DECIMALS)
            rows.append(row)
    return typed(rows, SENSITIVITY)


def sensitivity_markdown(frame: pd.DataFrame, config: Config) -> str:
    """Return the page: what the variations change, then a table for each data set.

    Args:
        frame: of columns SENSITIVITY.
        config: what the runs were made with.
    """
    shown = frame[frame["metric"] == _METRIC]
    parts = [part for _, part in shown.groupby("dataset", sort=False)]
    title = "Sensitivity to the open choices"
    table = Table(
        label="sensitivity",
        title=title if config.comparable else f"{title} ({OTHER_DATA})",
        blocks=[_block(part, config) for part in parts],
        notes=_notes(shown, config),
        frame=frame,
    )
    heading, rest = to_markdown(table).split("\n\n", 1)
    paragraphs = [_introduction(config), *(_paragraph(part, config) for part in parts)]
    return "\n\n".join([heading, *paragraphs, rest])


def draw_sensitivity(frame: pd.DataFrame, config: Config, files: dict[str, str | Path]) -> None:
    """Draw every variation as a row, a panel for each data set; the same bytes for the same data.

    Args:
        frame: of columns SENSITIVITY.
        config: the titles, and what the intervals are.
        files: format (png, svg) to path.
    """
    shown = frame[frame["metric"] == _METRIC]
    choices = list(dict.fromkeys(zip(shown["axis"], shown["value"], strict=True)))
    with plt.rc_context(STYLE):
        figure, panels = plt.subplots(
            ncols=len(config.varied_datasets),
            figsize=(2.8 + 4.4 * len(config.varied_datasets), 2.4 + 0.34 * len(choices)),
            layout="constrained",
            sharey=True,
            squeeze=False,
        )
        figure.get_layout_engine().set(w_pad=0.1)
        entries = {}
        for axes, dataset in zip(panels.flat, config.varied_datasets, strict=True):
            _draw_panel(axes, shown[shown["dataset"] == dataset], choices, config)
            axes.set_title(config.datasets[dataset].title, fontsize="medium", pad=20)
            handles, labels = axes.get_legend_handles_labels()
            entries |= dict(zip(labels, handles, strict=True))
        finish(figure, entries, _title(config), files)


def _choices(config: Config) -> list[tuple[str, tuple[str, str]]]:
    """Return the name of each variation with its axis and value, the paper's setting first."""
    axes = config.sensitivity.axes.items()
    places = [(axis, value) for axis, values in axes for value in values]
    return [(PAPER, (PAPER, "")), *zip(config.sensitivity.variations(), places, strict=True)]


def _compare(own: list[Cell | None], metric: str, values: Values, config: Config) -> dict:
    """Compare the first system with the second, where there are two."""
    if len(own) < 2:
        return {}
    first, second = (values(*cell, metric) if cell else None for cell in own[:2])
    if first is None or second is None:
        return {"verdict": NOT_RUN}
    row = compare_runs((own[0], own[1]), first, second)
    decided = HOLDS if row["p_greater"] < row["p_less"] else FAILS
    return row | {"verdict": decided if _p_value(row) < _level(config) else UNDECIDED}


def _p_value(row: dict) -> float:
    """Return the two-sided p-value of a row."""
    return min(1.0, 2 * min(row["p_greater"], row["p_less"]))


def _level(config: Config) -> float:
    return round(1 - config.bootstrap.confidence, DECIMALS)


def _printed(
    papers: list[Paper], config: Config, model: str, dataset: str, metric: str
) -> float | None:
    where = Where(model=model, dataset=dataset, subset=config.sensitivity.subset, metric=metric)
    values = (published_value(paper, where) for paper in papers if config.comparable)
    return next((value for value in values if value is not None), None)


# The page


def _introduction(config: Config) -> str:
    models = [config.models[name].title for name in config.sensitivity.models]
    if not models:
        return "There is no system to vary."
    axes = config.sensitivity.axes
    sentences = [
        "Each choice that the paper leaves open is taken otherwise, alone, around the paper's "
        f"setting. Choices: {len(axes)}; variations: {sum(map(len, axes.values()))}."
    ]
    if len(models) > 1:
        sentences.append(
            f"The claim is that {models[0]} ranks better than {models[1]}, by the "
            f"{MEASURE_TITLES[_METRIC].lower()} on {config.sensitivity.subset}."
        )
    return " ".join(sentences)


def _paragraph(part: pd.DataFrame, config: Config) -> str:
    """Say what the variations change on one data set."""
    systems = {model: rows.to_dict("records") for model, rows in part.groupby("model", sort=False)}
    first, *others = systems.values()
    sentences = _on_the_claim(first, others[0], config) if others else []
    for say in (_on_the_mean, _on_the_published):
        sentences += [say(rows, config.models[model].title) for model, rows in systems.items()]
    title = config.datasets[first[0]["dataset"]].title
    return " ".join([f"**{title}.**", *filter(None, sentences)])


def _on_the_claim(first: list[dict], second: list[dict], config: Config) -> list[str]:
    """Say what becomes of the claim that the first system is better than the second."""
    paper, *variations = first
    if paper["verdict"] == NOT_RUN:
        return [f"The claim is {NOT_RUN} at the paper's setting."]
    means = ", ".join(
        f"{config.models[row['model']].title} {row['mean']:.3f}" for row in (paper, second[0])
    )
    judged = [row for row in variations if row["verdict"] != NOT_RUN]
    changed = {
        verdict: [row for row in judged if row["verdict"] == verdict]
        for verdict in _CLAIM
        if verdict != paper["verdict"]
    }
    listed = "; ".join(
        f"it {_CLAIM[verdict]} with {_with_differences(rows, paper)}"
        for verdict, rows in changed.items()
        if rows
    )
    count = sum(map(len, changed.values()))
    reversed_only = [
        row
        for row in judged
        if row["verdict"] == paper["verdict"] and row["difference"] * paper["difference"] < 0
    ]
    return [
        f"At the paper's setting the claim {_CLAIM[paper['verdict']]}: {means} "
        f"({paper['difference']:+.3f}, p = {_p_value(paper):.2g}).",
        f"Of the variations that were run, {count} of {len(judged)} change this verdict"
        f"{f': {listed}' if listed else ''}.",
        "The verdict stays and the difference changes its sign with "
        f"{_with_differences(reversed_only, paper) or 'no variation'}.",
    ]


def _on_the_mean(rows: list[dict], title: str) -> str:
    """Say which variations move a system most."""
    paper, *variations = rows
    moved = [row for row in variations if pd.notna(row["difference_to_paper"])]
    if not moved:
        return ""
    largest = max(abs(row["difference_to_paper"]) for row in moved)
    if largest == 0:
        return f"No variation moves {title}."
    most = [
        f"{_label(row, paper)} ({paper['mean']:.3f} to {row['mean']:.3f})"
        for row in moved
        if abs(row["difference_to_paper"]) == largest
    ]
    return f"{title} moves most with {' and '.join(most)}."


def _on_the_published(rows: list[dict], title: str) -> str:
    """Say which variations bring the published value into the interval, or out of it."""
    ran = [row for row in rows if pd.notna(row["mean"]) and pd.notna(row["published"])]
    if not ran or ran[0] is not rows[0]:
        return ""
    paper, *variations = ran
    places = {True: "in", False: "outside"}
    inside = _mark(paper) == REPRODUCED
    moved = [row for row in variations if (_mark(row) == REPRODUCED) != inside]
    return (
        f"The published value of {title}, {paper['published']:g}, lies {places[inside]} the "
        f"interval at the paper's setting and {places[not inside]} it with "
        f"{', '.join(_label(row, paper) for row in moved) or 'no variation'}."
    )


def _mark(row: dict) -> str:
    """Return the ledger's verdict on a row, empty where nothing was published or run."""
    if pd.isna(row["published"]) or pd.isna(row["mean"]):
        return ""
    return verdict(row["published"], row["ci_low"], row["ci_high"])


def _with_differences(rows: list[dict], paper: dict) -> str:
    return ", ".join(f"{_label(row, paper)} ({row['difference']:+.3f})" for row in rows)


def _label(row: dict, paper: dict) -> str:
    """Return how a sentence calls a variation, with its questions where they are others."""
    return f"*{_words(row['axis'])}: {_value(row, paper)}*"


def _value(row: dict, paper: dict) -> str:
    counts = row["n_questions"], paper["n_questions"]
    differs = pd.notna(counts[0]) and pd.notna(counts[1]) and counts[0] != counts[1]
    return _words(row["value"]) + (f" ({counts[0]} questions)" if differs else "")


def _words(name: str) -> str:
    return name.replace("_", " ")


def _block(part: pd.DataFrame, config: Config) -> Block:
    """Return the table of one data set, a row for each variation."""
    models = [config.models[name].title for name in config.sensitivity.models]
    columns = [head for title in models for head in (title, "change")]
    columns += ["Difference", "two-sided p", "Verdict"] if len(models) > 1 else []
    paper, rows = part.iloc[0].to_dict(), []
    for (axis, value), here in part.groupby(["axis", "value"], sort=False):
        systems = here.to_dict("records")
        labels = [_words(axis), _value(systems[0], paper)] if value else [_AT_PAPER, ""]
        values = []
        for row in systems:
            change = row["difference_to_paper"]
            shown = "" if not value or pd.isna(change) else f"{change:+.3f}"
            values += [full_text(row | {"verdict": _mark(row)}), Value(shown)]
        rows.append((labels, values + _compared_values(systems[0])))
    title = config.datasets[part["dataset"].iloc[0]].title
    return Block(title, ["Choice", "Taken as"], columns, rows)


def _compared_values(row: dict) -> list[Value]:
    if not row["verdict"]:
        return []
    said = Value(f"{CLAIM_MARKS[row['verdict']]} {row['verdict']}")
    if row["verdict"] == NOT_RUN:
        return [Value(""), Value(""), said]
    return [Value(f"{row['difference']:+.3f}"), Value(f"{_p_value(row):.2g}"), said]


def _notes(frame: pd.DataFrame, config: Config) -> list[str]:
    """Say what a stranger needs to read the numbers."""
    paper = frame[(frame["axis"] == PAPER) & (frame["value"] == "")].dropna(subset="mean")
    counts = paper.drop_duplicates("dataset").set_index("dataset")["n_questions"]
    data = ", ".join(f"{config.datasets[name].title} {count}" for name, count in counts.items())
    notes = [
        f"Data: {config.sensitivity.subset}, test split; questions at the paper's setting: "
        f"{data or 'none'}. Seeds: {len(config.seeds)}.",
        "Protocol: the epoch is chosen by dev MRR and the test split is scored once, for that "
        "epoch; no variation is chosen.",
        f"Shown is the {MEASURE_TITLES[_METRIC].lower()}; the csv beside this page has "
        f"{' and '.join(MEASURE_TITLES[name].lower() for name in MEASURES)}.",
        "A cell: mean ± standard deviation over seeds [interval]"
        f"{' (published) mark' if config.comparable else ''}; change: of the mean, against the "
        "paper's setting.",
        f"{config.bootstrap.confidence * 100:g}% intervals: bootstrap over seeds and questions "
        f"({config.bootstrap.samples} samples).",
    ]
    if len(config.sensitivity.models) > 1:
        notes.append(
            "Difference: of the two means. Its p is two-sided, by a paired randomisation test over "
            f"questions and seeds ({SAMPLES} draws); the claim holds or fails where it is below "
            f"{_level(config):g} and is undecided elsewhere. No p is corrected for the number of "
            "variations, nor for the other claims of the paper, as the page of the claims does."
        )
    if config.comparable:
        notes.append(
            f"Marks: {MARKS[REPRODUCED]} the published value lies in our interval, {MARKS[HIGHER]} "
            f"ours is higher, {MARKS[LOWER]} ours is lower."
        )
    else:
        notes.append(f"No published values: {OTHER_DATA}.")
    if (frame.groupby("dataset")["n_questions"].nunique() > 1).any():
        notes.append(
            "A variation of the questions compares the systems on its own, so that a change may "
            "come from these."
        )
    return [*notes, *_reasons(frame, config)]


def _reasons(frame: pd.DataFrame, config: Config) -> list[str]:
    """Group what was not run, or not again, by the reason."""
    groups: dict[str, list[str]] = {}
    for row in frame[frame["reason"] != ""].to_dict("records"):
        value = _words(row["value"])
        choice = f"{_words(row['axis'])}: {value}" if value else _AT_PAPER
        heading = f"Not run ({row['reason']})" if pd.isna(row["mean"]) else row["reason"]
        text = f"{config.models[row['model']].title} (*{choice}*)"
        groups.setdefault(heading, []).append(text)
    return [
        f"{heading[0].upper()}{heading[1:]}: {', '.join(dict.fromkeys(texts))}."
        for heading, texts in groups.items()
    ]


# The figure


def _draw_panel(
    axes: plt.Axes, part: pd.DataFrame, choices: list[tuple[str, str]], config: Config
) -> None:
    """Draw one data set: a row for each of the `choices`, and what becomes of the claim."""
    if not choices:
        axes.text(0.5, 0.5, NOT_RUN, transform=axes.transAxes, horizontalalignment="center")
        return
    names = list(dict.fromkeys(axis for axis, _ in choices))
    for row, (axis, _) in enumerate(choices):
        if names.index(axis) % 2:
            axes.axhspan(row - 0.5, row + 0.5, color="0.95", linewidth=0, zorder=0)
    models = config.sensitivity.models
    for index, model in enumerate(models):
        aside = (index - (len(models) - 1) / 2) * 0.36
        own = part[part["model"] == model].to_dict("records")
        _draw_system(axes, own, config.models[model].title, index, aside)
    _label_published(axes, part.drop_duplicates("model")["published"].tolist())
    # A verdict has the colour of the system that it finds better.
    colours = {HOLDS: COLOURS[0], FAILS: COLOURS[1]}
    for place, word in enumerate(part.drop_duplicates(["axis", "value"])["verdict"]):
        axes.text(
            1.02,
            place,
            word,
            transform=axes.get_yaxis_transform(),
            verticalalignment="center",
            fontsize="small",
            color=colours.get(word, "0.5"),
        )
    labels = [f"{_words(axis)}: {_words(value)}" if value else _AT_PAPER for axis, value in choices]
    axes.set_yticks(range(len(choices)), labels)
    for label in axes.get_yticklabels()[:1]:
        label.set_fontweight("bold")
    axes.set_ylim(len(choices) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.set_xlabel(MEASURE_TITLES[_METRIC])
    axes.grid(axis="x", alpha=0.3)


def _draw_system(axes: plt.Axes, rows: list[dict], title: str, index: int, aside: float) -> None:
    """Draw the points of a system, hollow where the variation changes nothing in it."""
    colour, marker = COLOURS[index % len(COLOURS)], MARKERS[index % len(MARKERS)]
    style = {"color": colour, "marker": marker, "capsize": 2, "elinewidth": 1.2, "markersize": 5}
    label = title
    for place, row in enumerate(rows):
        if pd.notna(row["mean"]):
            spread = [[row["mean"] - row["ci_low"]], [row["ci_high"] - row["mean"]]]
            face = "white" if row["reason"] == _SAME else colour
            axes.errorbar(
                row["mean"], place + aside, xerr=spread, markerfacecolor=face, label=label, **style
            )
            label = None
    if rows and pd.notna(rows[0]["mean"]):
        axes.axvline(rows[0]["mean"], color=colour, linewidth=1, alpha=0.35, zorder=1)
    if rows and pd.notna(rows[0]["published"]):
        line = {"linestyle": (0, (5, 3)), "linewidth": 1.2, "label": title + PUBLISHED}
        axes.axvline(rows[0]["published"], color=colour, zorder=1, **line)


def _label_published(axes: plt.Axes, published: list[float]) -> None:
    """Write each published value above its line, the lower to the left so that none overlap."""
    known = sorted((value, index) for index, value in enumerate(published) if pd.notna(value))
    for order, (value, index) in enumerate(known):
        axes.annotate(
            f"{value:g}",
            (value, 1),
            (-2 if order == 0 else 2, 2),
            xycoords=axes.get_xaxis_transform(),
            textcoords="offset points",
            horizontalalignment="right" if order == 0 else "left",
            fontsize="small",
            color=COLOURS[index % len(COLOURS)],
        )


def _title(config: Config) -> str:
    models = [config.models[name].title for name in config.sensitivity.models]
    confidence = f"{config.bootstrap.confidence * 100:g}%"
    lines = [
        "Open choices, each taken otherwise alone around the paper's setting (first row and faint "
        "lines)",
        f"{config.sensitivity.subset}, test split; bars: {confidence} intervals over questions and "
        f"{len(config.seeds)} seeds",
        "hollow: changes nothing in this system",
    ]
    if len(models) > 1:
        lines.append(f"right: the claim that {models[0]} ranks better than {models[1]}")
    if not config.comparable:
        lines.append(f"{OTHER_DATA}: no published values")
    return "\n".join(lines)
