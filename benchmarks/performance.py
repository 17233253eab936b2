"""Render docs/performance.md and its chart from results.csv, and print which goals are met."""

from pathlib import Path

import pandas as pd
import yaml

FOLDER = Path(__file__).parent
PAGE = FOLDER.parent / "docs" / "performance.md"
HEAD = """# Performance

`make bench` measures two ways of doing the same thing side by side, because a ratio is stable where
the times of a shared machine are not. This page shows the newest rows of `benchmarks/results.csv`,
which has absolute figures, dates, versions, commands and commits. Tests check that fast paths give
the results of plain ones.

"""
RETIRED = """
## Answered questions

These were measured once. The scripts are in the commit of each row.

"""
PICTURES = """
## Ratios

![How many times ours is better](performance.svg)

## Growth

![Time and memory of each stage, measured at 898ba5d](growth.svg)

## Where the time of the paper goes

![Hours of the jobs by rule, measured at 685474e](paper.svg)
"""


def read_goals() -> dict[str, dict]:
    return yaml.safe_load((FOLDER / "goals.yaml").read_text(encoding="utf-8"))


def newest_results() -> pd.DataFrame:
    """Return the last row of each goal, data and device."""
    table = pd.read_csv(FOLDER / "results.csv", dtype=str, na_filter=False)
    return table.drop_duplicates(["goal", "data", "device"], keep="last")


def goal_verdict(goal: dict, value: float) -> tuple[str, str]:
    """Return the goal in words, and whether a value meets it."""
    if "at_least" in goal:
        return f"at least {goal['at_least']}", "met" if value >= goal["at_least"] else "missed"
    if "at_most" in goal:
        return f"at most {goal['at_most']}", "met" if value <= goal["at_most"] else "missed"
    return "-", "-"


def setting(row: pd.Series) -> str:
    """Return the data of a row, with the device if that is a GPU."""
    return row["data"] if " cores, " in row["device"] else f"{row['data']}, {row['device']}"


def results_table(goals: dict[str, dict], results: pd.DataFrame, retired: bool) -> tuple[str, str]:
    """Return the results of the goals that are retired, or of the others, as Markdown.

    The second text explains the missed goals.
    """
    lines, reasons = [], {}
    for name, goal in goals.items():
        if goal.get("retired", False) != retired:
            continue
        for _, row in results[results["goal"] == name].iterrows():
            value = float(row[goal["value"]])
            bound, verdict = goal_verdict(goal, value)
            what = f"**{name}**: {goal['text']}"
            fields = [what, setting(row), bound, f"{value:g}", verdict]
            lines.append([*fields, f"`{row['commit']}`"] if retired else fields)
            if verdict == "missed":
                reasons[name] = f"- **{name}**: {goal.get('missed', 'not explained yet.')}\n"
    header = ["measure", "on", "goal", "measured", "verdict", *["commit"] * retired]
    rows = [header, ["---"] * len(header), *lines]
    return "".join("| " + " | ".join(row) + " |\n" for row in rows), "".join(reasons.values())


def render() -> str:
    """Return the text of the page; raises SystemExit for a result without a goal."""
    goals, results = read_goals(), newest_results()
    if unknown := set(results["goal"]) - set(goals):
        raise SystemExit(f"results.csv: no such goal in goals.yaml: {', '.join(sorted(unknown))}")
    table, missed = results_table(goals, results, retired=False)
    old_table, old_missed = results_table(goals, results, retired=True)
    reasons = f"\n## Goals that are missed\n\n{missed}{old_missed}"
    return HEAD + table + RETIRED + old_table + reasons + PICTURES


def draw_ratios() -> None:
    """Draw how many times better our ways are."""
    from matplotlib.figure import Figure

    from analogyqa.report.style import COLOURS, INK, own_style, write_figure

    results = newest_results()
    ratios = results[results["ratio"] != ""]
    values = ratios["ratio"].astype(float).to_numpy()
    labels = [f"{row['goal']} ({setting(row)})" for _, row in ratios.iterrows()]
    with own_style():
        figure = Figure((7, 0.3 * len(ratios) + 1), layout="constrained")
        axes = figure.subplots()
        bars = axes.barh(labels, values, color=COLOURS[0])
        axes.margins(x=0.12)
        axes.bar_label(bars, [f"{value:.3g}" for value in values], padding=3, fontsize=8)
        axes.set(xscale="log", xlabel="times better than the other way (log)")
        axes.axvline(1, color=INK, linewidth=0.8)
        axes.tick_params(axis="y", labelsize=7)
        axes.invert_yaxis()
        write_figure(figure, "svg", PAGE.with_name("performance.svg"))


if __name__ == "__main__":
    page = render()
    PAGE.write_text(page, encoding="utf-8")
    draw_ratios()
    print(page)
