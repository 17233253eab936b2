"""A training step in portable arithmetic against one in native arithmetic."""

import os
import subprocess
import sys
from itertools import islice
from statistics import median

import cells
import torch
from measure import in_turn, record

from analogyqa.arithmetic import PORTABLE_VARIABLES, reproducible_arithmetic
from analogyqa.training.learner import Learner

BATCHES, STEP_ROUNDS, ROUNDS = 2, 5, 3


def step_seconds() -> float:
    """Return the median seconds of a few steps in the arithmetic of this process."""
    learner = Learner(cells.SYSTEM, cells.drawn_cell(), cells.SEED, torch.device("cpu"))
    batches = list(islice(learner.batches(1), BATCHES))
    with reproducible_arithmetic():
        seconds = in_turn({"step": lambda: [*map(learner.step, batches)]}, STEP_ROUNDS)
    return seconds["step"] / BATCHES


def main() -> None:
    native = {name: value for name, value in os.environ.items() if name not in PORTABLE_VARIABLES}
    ways = {"native": native, "portable": native | PORTABLE_VARIABLES}
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    # The libraries read the variables when they are imported, so each time is that of a process.
    for _ in range(ROUNDS):
        for name, variables in ways.items():
            command = [sys.executable, __file__, "step"]
            done = subprocess.run(command, env=variables, check=True, stdout=subprocess.PIPE)
            seconds[name].append(float(done.stdout))
    figures = [median(seconds[name]) for name in ways]
    record("portable step", cells.data_name(), "s", *figures, packages=["torch", "numpy"])


if __name__ == "__main__":
    print(step_seconds()) if sys.argv[1:] == ["step"] else main()
