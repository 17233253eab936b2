"""The share of the demo's time that is overhead, the start of a job, and a run with nothing to do.

The useful time of a job is that of its benchmark file without the start of its script: Python, the
code that Snakemake puts before a script, and the imports. The reports, which have no benchmark
file, count as overhead.
"""

import ast
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from measure import ROOT, record

# Modules that a script imports after its start.
LATER = {
    "train_encoder": ["analogyqa.training.loop"],
    "encode_sentences": ["sentence_transformers"],
    "find_entities": ["spacy"],
    "train_vectors": ["fasttext"],
}
SCRIPTS = {
    "build_training_quadruples": "build_quadruples",
    "build_evaluation_quadruples": "build_quadruples",
}
CORES = os.cpu_count() or 1
STARTS = 3


def demo(folder: str) -> float:
    """Run the demo into a folder and return its seconds."""
    command = [sys.executable, "-m", "snakemake", "--cores", str(CORES)]
    command += ["--quiet", "rules", "--configfile", "sample/config.yaml"]
    command += ["--config", f"output_dir={folder}"]
    started = time.perf_counter()
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return time.perf_counter() - started


def script_imports(rule: str) -> str:
    """Return the code that the script of a rule runs before it computes."""
    script = ROOT / "workflow_scripts" / f"{SCRIPTS.get(rule, rule)}.py"
    tree = ast.parse(script.read_text(encoding="utf-8"))
    imports = [
        ast.unparse(node) for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    imports += [f"import {module}" for module in LATER.get(rule, ())]
    return "\n".join(["from snakemake import script", *imports])


def start_seconds(code: str) -> float:
    """Return the seconds that code takes in a new Python, on as many cores at once as the demo."""
    command = [sys.executable, "-c", code]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "workflow_scripts")}
    seconds = []
    for _ in range(STARTS):
        started = time.perf_counter()
        running = [subprocess.Popen(command, env=environment) for _ in range(CORES)]
        if any(process.wait() for process in running):
            raise RuntimeError(f"this code fails:\n{code}")
        seconds.append(time.perf_counter() - started)
    return median(seconds)


def read_seconds(path: Path) -> float:
    """Return the seconds of all tries of a job, by its benchmark file."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return sum(json.loads(line)["s"] for line in lines)


def job_seconds(results: Path) -> dict[str, list[float]]:
    """Return the seconds of the jobs of each rule, by the benchmark files of a run."""
    seconds: dict[str, list[float]] = {}
    for path in sorted((results / "benchmarks").rglob("*.jsonl")):
        rule = path.relative_to(results / "benchmarks").parts[0]
        seconds.setdefault(rule, []).append(read_seconds(path))
    return seconds


def main() -> None:
    with tempfile.TemporaryDirectory(dir=ROOT / "results") as folder:
        wall = demo(folder)
        again = demo(folder)
        jobs = job_seconds(Path(folder))
    starts = {rule: start_seconds(script_imports(rule)) for rule in jobs}
    useful = sum(max(job - starts[rule], 0) for rule, seconds in jobs.items() for job in seconds)
    for rule, seconds in jobs.items():
        mean = sum(seconds) / len(seconds)
        print(f"{rule}: {len(seconds)} jobs of {mean:.1f} s, start {starts[rule]:.1f} s")
    print(f"demo: {wall:.0f} s, {sum(map(len, jobs.values()))} jobs with a benchmark file")
    share = 100 * (1 - useful / (CORES * wall))
    record("overhead", "demo", "%", share, packages=["snakemake", "torch"])
    record("demo", f"{CORES} cores", "s", wall, packages=["snakemake", "torch"])
    start, torch = starts["train_encoder"], start_seconds("import torch")
    data = "a job that trains, one per core"
    record("start of a job", data, "s", start, torch, packages=["torch"])
    record("no-op of the demo", "demo", "s", again, packages=["snakemake"])


if __name__ == "__main__":
    main()
