"""Goal 7: the time of Tables 2-5 and Figures 6-7, by the benchmark files of the run.

    snakemake --cores 2 --configfile config.yaml benchmarks/paper.yaml

Nothing is recorded if its results are incomplete. Pauses of an interrupted run do not count, nor
do jobs that were cut off.
"""

import json
import subprocess
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import yaml
from measure import ROOT, in_turn, record
from overhead import CORES, job_seconds, seconds_of

CONFIG = ("config.yaml", "benchmarks/paper.yaml")
SETTINGS: dict = {}
for name in CONFIG:
    SETTINGS |= yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))
RESULTS = ROOT / SETTINGS["output_dir"]
CHART = ROOT / "docs" / "paper.svg"
ROUNDS = 3


def nothing_to_do() -> bool:
    """Return whether the results are complete."""
    command = [sys.executable, "-m", "snakemake", "--cores", str(CORES), "--dry-run", "--quiet"]
    command += ["--configfile", *CONFIG]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return "Nothing to be done" in done.stdout + done.stderr


def busy_hours() -> float:
    """Return the hours in which at least one job ran."""
    spans = []
    for path in (RESULTS / "benchmarks").rglob("*.jsonl"):
        end = path.stat().st_mtime
        spans.append((end - seconds_of(path), end))
    busy, until = 0.0, 0.0
    for start, end in sorted(spans):
        busy += max(end - max(start, until), 0)
        until = max(until, end)
    return busy / 3600


def device_kind() -> str:
    """Return the device that trained, cpu or cuda."""
    runs = (json.loads(path.read_text(encoding="utf-8")) for path in RESULTS.rglob("run.json"))
    return "cuda" if any(run["device"] == "cuda" for run in runs) else "cpu"


def draw(hours: dict[str, float], path: Path) -> None:
    """Draw a bar of the hours, stacked by rule; rules below a hundredth of it are one part."""
    plt.rcParams["svg.hashsalt"] = "analogyqa"
    figure, axes = plt.subplots(figsize=(8, 2.4), layout="constrained")
    total = sum(hours.values())
    parts = {rule: value for rule, value in hours.items() if value >= total / 100}
    shown = sorted(parts.items(), key=lambda item: -item[1])
    shown.append((f"{len(hours) - len(parts)} other rules", total - sum(parts.values())))
    left = 0.0
    for rule, value in shown:
        axes.barh("jobs", value, left=left, label=f"{rule} {value:.2f} h")
        left += value
    axes.set_xlabel("hours of the jobs")
    axes.set_yticks([])
    figure.legend(fontsize=8, ncols=3, loc="outside lower center")
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    if not nothing_to_do():
        print(f"the whole paper: {RESULTS.relative_to(ROOT)} is not complete; no row")
        return
    seconds = in_turn({"no-op": nothing_to_do}, ROUNDS)["no-op"]
    jobs, kind, elapsed = job_seconds(RESULTS), device_kind(), busy_hours()
    count = f"{sum(map(len, jobs.values()))} jobs"
    record("no-op of the paper", count, "s", seconds, packages=["snakemake"])
    hours = {rule: sum(values) / 3600 for rule, values in jobs.items()}
    draw(hours, CHART)
    print(f"{count}, {sum(hours.values()):.2f} hours of all together")
    goal = "the whole paper" if kind == "cpu" else "the whole paper on a GPU"
    seeds = ", ".join(f"{name} {number}" for name, number in SETTINGS["seeds"].items())
    record(goal, f"seeds: {seeds}", "hours", elapsed, packages=["torch"], kind=kind)


if __name__ == "__main__":
    main()
