"""Render docs/performance.md and its charts from results.csv, and print which goals are met."""

from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
import yaml
from measure import FOLDER, RESULTS, ROOT

PAGE = ROOT / "docs" / "performance.md"
HEAD = """# Performance

`make bench` measures two ways of doing the same thing side by side, because a ratio is stable where
the times of a shared machine are not. This page shows the newest rows of `benchmarks/results.csv`,
which has absolute figures, dates, versions and commands. Tests check that fast paths give the
results of plain ones.

"""


def newest(table: pd.DataFrame) -> pd.DataFrame:
    """Keep the last row of each goal, data and device."""
    return table.drop_duplicates(["goal", "data", "device"], keep="last")


def goal_text(goal: dict) -> str:
    """Return the goal in words."""
    bounds = (
        f"{key.replace('_', ' ')} {goal[key]}" for key in ("at_least", "at_most") if key in goal
    )
    return next(bounds, "-")


def goal_verdict(goal: dict, row: pd.Series) -> tuple[str, str]:
    """Return the measured value, and whether it meets the goal."""
    value = float(row[goal["value"]])
    if "at_least" in goal:
        verdict = "met" if value >= goal["at_least"] else "missed"
    elif "at_most" in goal:
        verdict = "met" if value <= goal["at_most"] else "missed"
    else:
        verdict = "-"
    return f"{value:g}", verdict


def setting(row: pd.Series) -> str:
    """Return the data of a row, with the device if that is a GPU."""
    return row["data"] if " cores, " in row["device"] else f"{row['data']}, {row['device']}"


def markdown(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def main() -> None:
    goals = yaml.safe_load((FOLDER / "goals.yaml").read_text(encoding="utf-8"))
    table = newest(pd.read_csv(RESULTS, dtype=str, na_filter=False))
    if unknown := set(table["goal"]) - set(goals):
        raise SystemExit(f"{RESULTS}: no such goal in goals.yaml: {', '.join(sorted(unknown))}")
    rows, missed = [], []
    for name, goal in goals.items():
        measured, what = table[table["goal"] == name], f"**{name}**: {goal['text']}"
        if measured.empty:
            rows.append([what, "", goal_text(goal), "not measured", "-"])
        for _, row in measured.iterrows():
            value, verdict = goal_verdict(goal, row)
            rows.append([what, setting(row), goal_text(goal), value, verdict])
            if verdict == "missed":
                missed.append(name)
    header = ["measure", "on", "goal", "measured", "verdict"]
    print(markdown(header, rows))
    page = HEAD + markdown(header, rows)
    reasons = [
        f"- **{name}**: {goals[name].get('missed', 'not explained yet.')}"
        for name in dict.fromkeys(missed)
    ]
    if reasons:
        page += "\n## Goals that are missed\n\n" + "\n".join(reasons) + "\n"
    page += charts(table)
    PAGE.write_text(page, encoding="utf-8")
    print(f"{PAGE.relative_to(ROOT)} has the charts, and explains missed goals")


def charts(table: pd.DataFrame) -> str:
    """Draw the charts next to the page, and return the part of the page that shows them."""
    plt.rcParams["svg.hashsalt"] = "analogyqa"
    part = "\n## Ratios\n\n![How many times ours is better](performance.svg)\n"
    ratios = table[table["ratio"] != ""]
    figure, axes = plt.subplots(figsize=(7, 0.4 * len(ratios) + 1), layout="constrained")
    values = ratios["ratio"].astype(float).to_numpy()
    labels = [f"{row['goal']} ({setting(row)})" for _, row in ratios.iterrows()]
    bars = axes.barh(labels, values)
    axes.margins(x=0.12)
    axes.bar_label(bars, [f"{value:.3g}" for value in values], padding=3, fontsize=8)
    axes.set(xscale="log", xlabel="times better than the other way (log)")
    axes.axvline(1, color="black", linewidth=0.8)
    axes.tick_params(axis="y", labelsize=7)
    axes.invert_yaxis()
    _save(figure, PAGE.with_name("performance.svg"))
    _draw_growth(pd.read_csv(FOLDER / "growth.csv"))
    part += "\n## Growth\n\n![Time and memory of each stage](growth.svg)\n"
    part += "\n## Where the time of the paper goes\n\n![Hours of the jobs by rule](paper.svg)\n"
    return part


def _draw_growth(growth: pd.DataFrame) -> None:
    labels = {"cpu_seconds": "CPU seconds", "memory_mb": "peak resident memory, MB"}
    figure, sides = plt.subplots(1, 2, figsize=(10, 4.5), layout="constrained")
    for axes, (column, label) in zip(sides, labels.items(), strict=True):
        for stage, part in growth.groupby("stage", sort=False):
            axes.plot(part["copies"], part[column], marker="o", markersize=3, label=stage)
        axes.set(xscale="log", yscale="log", xlabel="times the corpus", ylabel=label)
        axes.set_xticks(growth["copies"].unique(), growth["copies"].unique())
    figure.legend(*sides[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    _save(figure, PAGE.with_name("growth.svg"))


def _save(figure: plt.Figure, path: Path) -> None:
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


if __name__ == "__main__":
    main()
