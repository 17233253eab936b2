"""The seeds of a cell side by side against one after the other.

On the CPU as many seeds as there are cores; on a GPU ten, all at once, against one alone. A GPU
trains for more epochs, because a process takes seconds to start CUDA.
"""

import os
import tempfile
from pathlib import Path

import cells
import torch
from measure import in_turn, kinds, record

from analogyqa.runs.side_by_side import Report, side_by_side
from analogyqa.settings.systems import System, Training
from analogyqa.training.data import CellData
from analogyqa.training.devices import set_numerics
from analogyqa.training.loop import train_seed

EPOCHS = {"cpu": 1, "cuda": 5}
ROUNDS = 2
SEEDS_ON_GPU = 10


def train(data: CellData, seed: int, kind: str, report: Report) -> None:
    """Train a seed for the epochs of a device."""
    epochs = EPOCHS[kind]
    training = Training(max_epochs=epochs, patience=epochs)
    system = System(
        title="analogy", encoder="bigru", vectors="any", ranker="analogy", training=training
    )
    torch.set_num_threads(1)
    device = torch.device(kind)
    set_numerics(device)
    with tempfile.TemporaryDirectory() as folder:
        checkpoint = Path(folder, "seed.pt")
        train_seed(data, system, seed, device, checkpoint, "a cell", report)


def train_all(data: CellData, seeds: int, workers: int, kind: str) -> None:
    """Train seeds, at most `workers` at a time."""
    calls = [(data, seed, kind) for seed in range(seeds)]
    side_by_side(train, calls, workers, lambda history: None)


def measure_cpu(data: CellData) -> None:
    """Record the seeds on the cores of the CPU."""
    cores = os.cpu_count() or 1
    ways = {
        "ours": lambda: train_all(data, cores, cores, "cpu"),
        "other": lambda: train_all(data, cores, 1, "cpu"),
    }
    seconds = in_turn(ways, ROUNDS)
    name = f"{cells.data_name()}, an epoch of {cores} seeds"
    record("seeds together", name, "s", **seconds, packages=["torch"])


def measure_gpu(data: CellData) -> None:
    """Record the time of ten seeds on a GPU, as a multiple of that of one."""
    ways = {
        "ours": lambda: train_all(data, SEEDS_ON_GPU, SEEDS_ON_GPU, "cuda"),
        "other": lambda: train_all(data, 1, 1, "cuda"),
    }
    seconds = in_turn(ways, ROUNDS)
    name = f"{cells.data_name()}, {EPOCHS['cuda']} epochs of {SEEDS_ON_GPU} seeds"
    times = seconds["ours"] / seconds["other"]
    record("seeds on a GPU", name, "times of one", times, packages=["torch"], kind="cuda")


def main() -> None:
    data = cells.drawn_cell()
    for kind in kinds():
        {"cpu": measure_cpu, "cuda": measure_gpu}[kind](data)


if __name__ == "__main__":
    main()
