"""Goal 7: the whole paper, by the benchmark files that `make paper` leaves.

Where the results are not complete nothing is recorded.
"""

import subprocess
import sys
import time
from pathlib import Path

import matplotlib.pyplot as plt
from measure import ROOT, record
from overhead import CORES, job_seconds

RESULTS = ROOT / "results" / "paper"
CHART = ROOT / "docs" / "paper.svg"


def dry_run() -> tuple[float, bool]:
    """Return the seconds in which a run of the paper answers, and whether nothing is to be done."""
    command = [sys.executable, "-m", "snakemake", "--cores", str(CORES), "--dry-run", "--quiet"]
    started = time.perf_counter()
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    seconds = time.perf_counter() - started
    return seconds, "Nothing to be done" in done.stdout + done.stderr


def draw(hours: dict[str, float], path: Path) -> None:
    """Draw a bar of the hours, stacked by rule."""
    plt.rcParams["svg.hashsalt"] = "analogyqa"
    figure, axes = plt.subplots(figsize=(8, 2.2), layout="constrained")
    left = 0.0
    for rule, value in sorted(hours.items(), key=lambda item: -item[1]):
        axes.barh("jobs", value, left=left, label=f"{rule} {value:.2f} h")
        left += value
    axes.set_xlabel("CPU hours")
    axes.set_yticks([])
    axes.legend(fontsize=7, ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.35))
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    seconds, complete = dry_run()
    if not complete:
        print("the whole paper: results/paper is not complete, run `make paper` first; no row")
        return
    record("no-op of the paper", "results/paper", seconds, None, "s", None, "snakemake")
    jobs = job_seconds(RESULTS)
    hours = {rule: sum(values) / 3600 for rule, values in jobs.items()}
    draw(hours, CHART)
    record(
        "the whole paper", f"{sum(map(len, jobs.values()))} jobs, their seconds over {CORES} cores",
        sum(hours.values()) / CORES, None, "hours", None, "torch",
    )  # fmt: skip


if __name__ == "__main__":
    main()
