"""The hours of a run's jobs by rule, by its benchmark files.

    python benchmarks/paper.py results/paper

The hours are those of all jobs together, so on two idle cores the run takes half as long. Jobs that
trained on a GPU are counted separately. Pauses of an interrupted run do not count, nor do jobs that
were cut off. A job that only trained more seeds counts with the epochs of all its seeds. Nothing is
recorded if the run is not complete.
"""

import json
import shlex
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
from measure import ROOT, in_turn, record
from overhead import job_seconds, seconds_of

from analogyqa.report.stored import CONFIGURATION, read_configuration

CHART = ROOT / "docs" / "paper.svg"
ROUNDS = 3
ON_GPU = "train_encoder on a GPU"


def nothing_to_do(command: str) -> bool:
    """Return whether the results that a command makes are complete."""
    arguments = [sys.executable, "-m", *shlex.split(command), "--dry-run", "--quiet"]
    done = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True, check=True)
    return "Nothing to be done" in done.stdout + done.stderr


def training_seconds(results: Path) -> dict[str, list[float]]:
    """Return the seconds of the jobs that trained, by device (cpu or cuda).

    A job counts with its own seconds or, if that is more, with those of its epochs.
    """
    histories, devices = {}, {}
    for path in sorted((results / "runs").rglob("history.parquet")):
        system, dataset, subset, overrides = path.relative_to(results / "runs").parts[:4]
        job = f"{system}/{dataset}-{subset}-{overrides}"
        histories[job] = pd.read_parquet(path)
        devices[job] = json.loads(path.with_name("run.json").read_text("utf-8"))["device"]
    rows = pd.concat(histories, names=["job"]).reset_index("job")
    rows = rows[rows["measure"] == "seconds"]
    # Jobs that share a training run have the same epochs, to the last digit of their seconds.
    epochs = rows.drop_duplicates(["seed", "epoch", "value"]).groupby("job")["value"].sum()
    folder = results / "benchmarks" / "train_encoder"
    seconds = defaultdict(list)
    for job, device in devices.items():
        path = folder / f"{job}.jsonl"  # missing if Snakemake was killed as the job ended
        of_job = seconds_of(path) if path.exists() else 0
        seconds[device].append(max(of_job, epochs.get(job, 0)))
    return seconds


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
    results = Path(*sys.argv[1:2] or [ROOT / "results" / "paper"])
    if not (results / CONFIGURATION).exists():
        print(f"hours of a run: no complete run in {results}, so no row")
        return
    config, papers, command = read_configuration(results)
    if not nothing_to_do(command):
        print(f"hours of a run: {results} is not complete, so no row")
        return
    seconds = in_turn({"no-op": lambda: nothing_to_do(command)}, ROUNDS)["no-op"]
    training = training_seconds(results)
    jobs = job_seconds(results) | {"train_encoder": training["cpu"], ON_GPU: training["cuda"]}
    count = f"{sum(map(len, jobs.values()))} jobs"
    record("no-op of the paper", count, "s", seconds, packages=["snakemake"])
    hours = {rule: sum(values) / 3600 for rule, values in jobs.items() if sum(values)}
    draw(hours, CHART)
    on_gpu = hours.pop(ON_GPU, 0)
    total = sum(hours.values())
    print(f"{count}, {total:.2f} hours of cores and {on_gpu:.2f} of jobs on a GPU")
    seeds = {"default": config.seeds} | config.seeds_of
    counts = ", ".join(f"{name} {len(of)}" for name, of in seeds.items())
    data = f"{', '.join(papers)}; seeds: {counts}"
    if on_gpu:
        data += f"; without {len(training['cuda'])} jobs on a GPU ({on_gpu:.2f} h)"
    record("hours of a run", data, "hours", total, packages=["torch"])


if __name__ == "__main__":
    main()
