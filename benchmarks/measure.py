"""Measure two implementations side by side, and record the figures in results.csv."""

import csv
import importlib.metadata
import multiprocessing
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from pathlib import Path
from statistics import median
from typing import NamedTuple

FOLDER = Path(__file__).parent
ROOT = FOLDER.parent
LESS_IS_BETTER = ("s", "s/epoch", "MB")  # units
RESULTS = FOLDER / "results.csv"


class Cost(NamedTuple):
    """The wall and CPU seconds of a call, and the peak resident memory of its process in MB."""

    seconds: float
    cpu_seconds: float
    memory_mb: float


def in_turn(ways: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Return the median seconds of each way.

    They are run alternately; the first round is a warm-up.
    """
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(rounds + 1):
        for name, way in ways.items():
            started = time.perf_counter()
            way()
            if number:
                seconds[name].append(time.perf_counter() - started)
    return {name: median(values) for name, values in seconds.items()}


def run_in_new_process(function: Callable[..., object], *arguments: object) -> Cost:
    """Call a function in a fresh process; return its cost, without the time of its imports.

    Raises RuntimeError when the process fails.
    """
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_call, args=(sender, function, arguments))
    process.start()
    sender.close()
    try:
        cost = receiver.recv()
    except EOFError:
        raise RuntimeError(f"{function.__name__}{arguments} failed; its message is above") from None
    finally:
        process.join()
    return cost


def _call(sender: object, function: Callable[..., object], arguments: tuple) -> None:
    started, cpu = time.perf_counter(), time.process_time()
    function(*arguments)
    seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
    # The rusage of a process would include the memory of its parent.
    peak = int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 1024
    sender.send(Cost(seconds, cpu, peak))


def device(kind: str = "cpu") -> str:
    """Name the hardware: cores and model of the CPU, or the GPU."""
    if kind == "cuda":
        import torch

        return torch.cuda.get_device_name()
    # Not at the top: `run_in_new_process` measures memory.
    from analogyqa.arithmetic import processor

    return f"{os.cpu_count()} cores, {processor()}"


def kinds() -> list[str]:
    """Return the devices to measure: those of the command line, else the CPU and a GPU, if any."""
    import torch

    return sys.argv[1:] or ["cpu", *["cuda"] * torch.cuda.is_available()]


def record(
    goal: str,
    data: str,
    unit: str,
    ours: float,
    other: float | None = None,
    *,
    packages: Sequence[str],
    kind: str = "cpu",
) -> None:
    """Add a row to results.csv and print it.

    Args:
        goal: A key of goals.yaml.
        data: The data that it was measured on.
        unit: The unit of the values, which also says whether more or less of it is better.
        ours, other: The values; `other` is None without a comparison.
        packages: The packages whose versions matter.
        kind: The device, cpu or cuda.
    """
    ratio = None
    if other is not None:
        ratio = other / ours if unit in LESS_IS_BETTER else ours / other
    versions = [f"python {platform.python_version()}"]
    versions += [f"{name} {importlib.metadata.version(name)}" for name in packages]
    if "torch" in packages and kind == "cpu":
        import torch

        # With AVX-512, the encoder multiplies matrices by another library.
        versions.append(f"torch uses {torch.backends.cpu.get_cpu_capability()}")
    script = Path(sys.argv[0]).resolve()
    row = {
        "date": date.today().isoformat(),
        "goal": goal,
        "data": data,
        "ours": _short(ours),
        "other": "" if other is None else _short(other),
        "unit": unit,
        "ratio": "" if ratio is None else _short(ratio),
        "device": device(kind),
        "versions": ", ".join(versions),
        "command": " ".join(["python", str(script.relative_to(ROOT)), *sys.argv[1:]]),
        "commit": _commit(),
    }
    with open(RESULTS, "a", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerow(row.values())
    beside = f", other {row['other']}" if row["other"] else ""
    print(f"{goal}: {row['ours']}{beside} {unit}, ratio {row['ratio'] or '-'} ({data})", flush=True)


def _commit() -> str:
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--exclude=*"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def _short(value: float) -> str:
    return f"{float(f'{value:.4g}'):g}"
